#pragma once
/// Scheduling an irregular exchange while the program runs, on all ranks of a communicator together.
#include <mpi.h>

#include <optional>

#include "hocket/network/network.hpp"
#include "numbering.hpp"
#include "planned.hpp"
#include "volumes.hpp"

namespace hocket::runtime {

/// Plans for the ranks of one communicator. Every function is called by all of them.
class Planner {
 public:
  /// Throws InputError, on all ranks alike, if the network cannot be cut down to these ranks.
  explicit Planner(const Numbering& numbering);

  /// The demand of all ranks, in ranks of the network part. Collective; throws as concatenate does.
  [[nodiscard]] Demand demand(MPI_Comm comm, const Volumes& volumes) const;
  /// Whether a schedule gains over posting everything at once, by the settings.
  [[nodiscard]] bool worth(const Demand& demand) const;
  /// What this rank does; in ranks of the communicator. Collective. Nothing, on all ranks alike and
  /// with one warning, if the exchange cannot be planned: above all when sizes disagree between sender
  /// and receiver.
  ///
  /// Every rank draws a schedule with a seed of its own; all take the fastest, of equals that of the
  /// first rank, so that the same demand and seed make the same schedule.
  [[nodiscard]] std::optional<Planned> plan(MPI_Comm comm, const Volumes& volumes, const Demand& demand) const;

 private:
  [[nodiscard]] Schedule draw(const Demand& demand, int by) const;
  [[nodiscard]] Planned program(const Demand& demand, const Schedule& schedule, Rank rank) const;

  const Numbering& numbering_;
  Network part_;
};

}  // namespace hocket::runtime
