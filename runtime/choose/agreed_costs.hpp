#pragma once
/// How long calls took, as all ranks know it.
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/progress/requests.hpp"

namespace hocket::runtime {

/// The ranks time the same calls and agree on the durations where the next such call begins: there they would soon wait
/// for each other anyway.
class AgreedCosts {
 public:
  /// What a call cost, of its durations on the ranks. Not the least: a rank that a lost message holds up comes last to
  /// the next call, finds everything there, and is done at once, while the others have waited.
  enum class Cost : std::uint8_t {
    mean,  ///< of calls that follow each other: together they take what the ranks spend in them
    most,  ///< where ranks begin together, or all that is sent begins or ends at one: others may be done long before
  };
  explicit AgreedCosts(Cost cost = Cost::mean) : cost_(cost) {}

  /// Whether from here on the ranks meet before every call that is timed, and it costs what it takes on the slowest.
  void meet_first(bool wanted) { meet_first_ = wanted; }
  [[nodiscard]] bool meets_first() const { return meet_first_; }
  /// A call begins that is timed. Collective.
  void begin(MPI_Comm comm);
  /// When the call that begins now, or was the last to begin, will have lasted so many seconds; infinity: never.
  [[nodiscard]] Deadline after(double seconds, bool timed) const;
  /// It has ended. One that never ends, by an error on this rank, has no cost here.
  void end();
  /// Calls to agree on.
  [[nodiscard]] std::size_t count() const { return own_.size(); }
  /// Seconds of all calls since it was last asked; infinity: not known. A call without a cost on some rank costs what
  /// the others say, or nothing is known of the mean and the most. `besides` is agreed in the same way and comes last.
  /// Collective.
  [[nodiscard]] std::vector<double> agree(MPI_Comm comm, std::optional<double> besides = std::nullopt);
  /// The calls that were agreed on last, by what calls cost where the ranks do not meet. Collective.
  [[nodiscard]] std::vector<double> as_if_unmet(MPI_Comm comm) const;

 private:
  Cost cost_;
  bool meet_first_ = false;
  std::vector<double> own_, told_;  ///< on this rank: not agreed on yet; the last that were
  std::chrono::steady_clock::time_point since_;
};

}  // namespace hocket::runtime
