#pragma once
/// How long calls took, as all ranks know it.
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace hocket::runtime {

/// The ranks time the same calls and agree on the durations where the next such call begins: there they would soon wait
/// for each other anyway.
class AgreedCosts {
 public:
  /// What a call cost, of its durations on the ranks.
  enum class Cost : std::uint8_t {
    least,  ///< where every rank gets something from every other: the last to come waits for nobody
    most,   ///< where all that is sent begins or ends at one rank: the others may be done long before
    mean,   ///< elsewhere: a rank that few others wait for says little, all of them together do
  };
  explicit AgreedCosts(Cost cost = Cost::least) : cost_(cost) {}

  /// A call begins that is timed.
  void begin();
  /// It has ended. One that never ends, by an error on this rank, has no cost here.
  void end();
  /// Whether there are calls to agree on.
  [[nodiscard]] bool any() const { return !own_.empty(); }
  /// Seconds of all calls since it was last asked; infinity: not known. A call without a cost on some rank costs what
  /// the others say, or nothing is known of the mean and the most. Collective.
  [[nodiscard]] std::vector<double> agree(MPI_Comm comm);

 private:
  Cost cost_;
  std::vector<double> own_;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace hocket::runtime
