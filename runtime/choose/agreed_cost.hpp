#pragma once
/// The duration of a call, agreed among all ranks.
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "runtime/progress/requests.hpp"

namespace hocket::runtime {

/// The ranks time the same call and agree on its duration where the next call begins: there they would soon wait for
/// each other anyway.
class AgreedCost {
 public:
  /// The way to combine the ranks' durations into a cost. The minimum would be wrong: a rank that a lost message holds
  /// up comes last to the next call, finds everything there, and is done at once, while the others have waited.
  enum class Of : std::uint8_t {
    mean,  ///< calls that follow each other: together they take what the ranks spend in them
    most,  ///< calls in which all that is sent begins or ends at one rank: others may be done long before
  };
  explicit AgreedCost(Of of = Of::mean) : of_(of) {}

  /// A call begins that is timed.
  void begin();
  /// It has ended; `times` as many seconds count. One that never ends, by an error on this rank, has no cost here.
  void end(double times = 1);
  /// True if a call was timed on whose cost the ranks have not agreed yet.
  [[nodiscard]] bool is_open() const { return own_.has_value(); }
  struct Agreed {
    double seconds = 0;     ///< of that call; infinity where not known because it failed on some rank
    double wires = 0;       ///< likewise: what the ranks take the links to need
    bool together = false;  ///< some rank takes hosts to share a machine
  };
  /// Collective.
  [[nodiscard]] Agreed agree(MPI_Comm comm, double wires = 0, bool together = false);

 private:
  Of of_;
  std::optional<double> own_;  ///< on this rank
  std::chrono::steady_clock::time_point since_;
};

}  // namespace hocket::runtime
