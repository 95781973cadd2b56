#pragma once
/// Selection of a candidate for the calls of one key by timing them as they are made.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/choose/chooser.hpp"
#include "core/choose/kept_timings.hpp"
#include "runtime/choose/agreed_cost.hpp"

namespace hocket::runtime {

/// A chooser that learns what calls have cost on all ranks. Every rank sees the same calls and the same costs, so all
/// of them decide alike without asking each other.
class Selection {
 public:
  /// `names`: of the candidates, the library's own first; they outlive this. `predicted`: seconds of each, NaN where
  /// unknown. `known`: what earlier jobs have kept of them; no candidates: nothing.
  Selection(std::vector<std::string_view> names, std::span<const double> predicted, double agree_seconds,
            double setup_seconds, AgreedCost::Of of, const KeptTimings& known);

  /// `calls` calls were served by the library before; one took `seconds`.
  void seen(std::uint64_t calls, double seconds);

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
