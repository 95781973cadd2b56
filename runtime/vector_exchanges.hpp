#pragma once
/// Which schedule serves an irregular exchange of a communicator, found again with one small reduction.
#include <mpi.h>

#include <array>
#include <memory>
#include <optional>

#include "irregular.hpp"
#include "neighbours.hpp"
#include "recognition.hpp"
#include "report.hpp"

namespace hocket::runtime {

class Team;

class VectorExchanges {
 public:
  /// Belongs to the team.
  explicit VectorExchanges(Team& team) : team_(team) {}

  /// False, on all ranks alike, while calls go to the MPI library unseen. To be asked once per call.
  [[nodiscard]] bool asks() { return patience_.asks(); }
  /// Null, on all ranks alike, if the MPI library is to serve all calls to them.
  [[nodiscard]] const Neighbours* neighbours(MPI_Comm comm, Reach reach);

  /// What a call runs by. Null, on all ranks alike, if the MPI library is to serve it.
  struct Found {
    const Exchange* exchange = nullptr;
    Why why = Why::erroneous;
  };
  /// For a call of these sizes; nothing: only the MPI library can serve it, as far as this rank can tell.
  /// Collective.
  [[nodiscard]] Found find(MPI_Comm comm, std::optional<Volumes> volumes);

  struct Made {
    std::optional<Planned> planned;
    Why why = Why::no_plan;
  };
  /// A plan for a call of which nothing is remembered, made at once. Collective; nothing, on all ranks
  /// alike, if the MPI library is to serve it.
  [[nodiscard]] Made plan(MPI_Comm comm, const Volumes& volumes);

 private:
  [[nodiscard]] Recognition::Known* recognised(MPI_Comm comm, std::optional<Volumes> volumes);

  Team& team_;
  std::array<std::optional<std::optional<Neighbours>>, 2> neighbours_;  ///< by Reach; asked for, and found
  std::unique_ptr<Planner> planner_;
  Recognition recognition_;
  Patience patience_;
};

}  // namespace hocket::runtime
