#pragma once
/// Which schedule serves an irregular exchange of a communicator, found again with one small reduction.
#include <mpi.h>

#include <memory>
#include <optional>

#include "irregular.hpp"
#include "recognition.hpp"

namespace hocket::runtime {

class Team;

class VectorExchanges {
 public:
  /// Belongs to the team.
  explicit VectorExchanges(Team& team) : team_(team) {}

  /// False, on all ranks alike, while calls go to the MPI library unseen. To be asked once per call.
  [[nodiscard]] bool asks() { return patience_.asks(); }
  /// What a call of these sizes runs by; nothing: the call is erroneous as far as this rank can tell.
  /// Collective. Null, on all ranks alike, if the MPI library is to serve it.
  [[nodiscard]] Exchange* find(MPI_Comm comm, std::optional<Volumes> volumes);
  /// A plan for a call of which nothing is remembered, made at once. Collective; nothing, on all ranks
  /// alike, if the MPI library is to serve it.
  [[nodiscard]] std::optional<Planned> plan(MPI_Comm comm, const Volumes& volumes);

 private:
  [[nodiscard]] Recognition::Known* recognised(MPI_Comm comm, std::optional<Volumes> volumes);

  Team& team_;
  std::unique_ptr<Planner> planner_;
  Recognition recognition_;
  Patience patience_;
};

}  // namespace hocket::runtime
