#pragma once
/// Scheduling an irregular exchange while the program runs, on all ranks of a communicator together.
#include <mpi.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "runtime/buffers/vector_call.hpp"
#include "runtime/plan/placement.hpp"
#include "runtime/plan/planned.hpp"

namespace hocket::runtime {

/// The distributed concatenation of destination vectors, with which scheduling begins (Wang, Lin and
/// Ranka, section 2).
/// Gathers every rank's row into the whole traffic matrix, on every rank. Memory and traffic are proportional to ranks
/// and messages. Collective. Throws InputError on all ranks alike if the sizes add up to too much.
[[nodiscard]] TrafficMatrix concatenate(MPI_Comm comm, std::span<const Volume> sends);

/// HOCKET_ALGORITHM: calls are planned for their sizes, with an algorithm chosen for each.
inline constexpr std::string_view any_algorithm = "auto";

/// The algorithm to plan with; the same on all ranks.
struct PendingSetup {
  std::string algorithm;  ///< empty: chosen for each demand
  std::uint64_t seed = 1;
};

/// Plans for the ranks of one communicator. Every function is called by all of them.
class Planner {
 public:
  /// For the ranks' part of a network, by the settings. Throws InputError, on all ranks alike, if the network
  /// cannot be cut down to these ranks.
  Planner(const Numbering& numbering, const Network& network);
  /// `part` has the ranks of the numbering, which must outlive the planner.
  Planner(const Numbering& numbering, Network part, PendingSetup pending_setup);

  /// The ranks' part of the network.
  [[nodiscard]] const Network& part() const { return part_; }
  /// The demand of all ranks, in ranks of the network part. Collective; throws as concatenate does.
  [[nodiscard]] Demand demand(MPI_Comm comm, const PeerBytes& peer_bytes) const;
  /// Plans this rank's program, in communicator ranks. Collective. Nothing, on all ranks alike and with one warning, if
  /// the exchange cannot be planned: above all when sizes disagree between sender and receiver; then `problem`, empty
  /// before, says why.
  [[nodiscard]] std::optional<Planned> plan(MPI_Comm comm, const PeerBytes& peer_bytes, const Demand& demand,
                                            std::string& problem) const;
  /// Like plan(), but without agreeing on errors: stores this rank's problem, if any, and continues even with one, so
  /// that all ranks make the same collective calls.
  ///
  /// All draw the first rank's schedule. Where that is not close to the bound, every rank draws one with a seed of its
  /// own; all take the fastest, of equals that of the first rank, so that the same demand and seed make the same
  /// schedule.
  [[nodiscard]] Planned schedule(MPI_Comm comm, const Demand& demand, std::string& problem) const;

 private:
  [[nodiscard]] Planned program(const Demand& demand, const Schedule& schedule, Rank rank) const;

  const Numbering& numbering_;
  Network part_;
  PendingSetup pending_setup_;
};

}  // namespace hocket::runtime
