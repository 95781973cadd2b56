#pragma once
/// Costs that are measured and agreed on among all ranks, and the selection of a candidate by them.
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/choose/chooser.hpp"
#include "core/choose/kept_timings.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {

/// The duration of a call. The ranks time the same call and agree on its duration where the next call begins: there
/// they would soon wait for each other anyway.
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

/// Costs of empty messages (latency) where the program runs: seconds, the largest over the ranks.
struct SmallCosts {
  /// Seconds from the start of a one-byte message to the arrival of the token that answers it, by each of the messages
  /// that a rank has then sent or got: the per-message cost (latency) that a schedule pays in every phase.
  double step_seconds = 0;
  double agree_seconds = 0;  ///< a reduction of one number
};

/// The largest over the ranks. Collective.
[[nodiscard]] double slowest(MPI_Comm comm, double here);

/// Seconds of a reduction of one number, the mean of two: where ranks outnumber cores few of them take most of the
/// time. One before them does not count: it may open connections. The largest over the ranks. Collective.
[[nodiscard]] double measure_agreement(MPI_Comm comm);

/// Measures messages between the ranks of `stepping`, a subset of `own` (MPI_COMM_NULL on other ranks). Both must be
/// the runtime's own communicators. Collective over `own`.
[[nodiscard]] SmallCosts measure_small_costs(MPI_Comm own, MPI_Comm stepping);

/// A chooser that learns what calls have cost on all ranks. Every rank sees the same calls and the same costs, so all
/// of them decide alike without asking each other.
class Selection {
 public:
  /// `names`: of the candidates, the library's own first; they outlive this. `predicted`: seconds of each, NaN where
  /// unknown. `known`: what earlier jobs have kept of them; no candidates: nothing.
  Selection(std::vector<std::string_view> names, std::span<const double> predicted, double agree_seconds,
            double setup_seconds, double opening_seconds, AgreedCost::Of of, const KeptTimings& known);

  /// `calls` calls were served by the library before; one took `seconds`.
  void seen(std::uint64_t calls, double seconds);

  void fix_native() { chooser_.fix_native(); }

  /// The candidate that serves the next call. Collective.
  std::size_t next(MPI_Comm comm);
  /// The one that serves it where the ranks may not agree on anything. Local.
  void stay() { decision_ = chooser_.stay(); }
  [[nodiscard]] std::size_t candidate() const { return decision_.candidate; }
  /// That call begins: all that it needs has been made.
  void begin();
  /// The time at which the call gives up its order; `never` if it does not.
  [[nodiscard]] Deadline deadline() const { return deadline_; }
  /// It has ended on this rank; `times` as many seconds count.
  void over(double times = 1);

  [[nodiscard]] const Chooser& chooser() const { return chooser_; }
  /// True if the library's own call is the fastest and all candidates have been timed.
  [[nodiscard]] bool native_stays() const;
  /// The timings of this job: winner and candidates; empty if nothing was measured.
  [[nodiscard]] std::optional<KeptTimings> learned() const;

 private:
  struct Measured {
    std::uint64_t calls = 0;
    double logarithms = 0;  ///< sum of logarithms of seconds
  };
  void measured(std::size_t candidate, double seconds);

  std::vector<std::string_view> names_;
  std::vector<Measured> measured_;  ///< timings of this job, per candidate
  Chooser chooser_;
  AgreedCost cost_;
  Decision decision_;
  std::size_t timed_ = 0;  ///< candidate of the last call that was timed
  Deadline deadline_ = never;
};

}  // namespace hocket::runtime
