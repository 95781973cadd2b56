#pragma once
/// Ranks that do nothing for a while: single delays, and noise as a Poisson process.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/network/network.hpp"

namespace hocket {

struct Absence {
  Rank rank = 0;
  double begin = 0, seconds = 0;
};

/// Every rank is called away at random, independent of the others and of what it does, and each time for `delay`. Calls
/// come by a Poisson process; one that comes while the rank is away prolongs that.
struct Noise {
  double delay = 0;  ///< s
  double part = 0;   ///< share of the time that a rank is away, below 1
  std::uint64_t seed = 1;
};

/// When ranks are away. A rank that is away begins nothing; what has begun goes on. Whatever it is asked, and in
/// whatever order, the same seed gives the same calls: they follow from rank and time, and nobody keeps them.
class Away {
 public:
  Away() = default;
  /// Throws InputError for what is no delay or part, and for ranks that are not there.
  Away(std::uint32_t ranks, std::vector<Absence> absences, std::optional<Noise> noise);

  /// Number of ranks of the network; 0 if it fits every network.
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] bool never() const { return absences_.empty() && !noise_; }
  /// The time at which the rank does what it would do at `time`.
  [[nodiscard]] double after(Rank rank, double time) const;
  /// Seconds until then that noise keeps the rank away.
  [[nodiscard]] double noise_seconds(Rank rank, double until) const;

 private:
  template <class Visit>
  void each_call(Rank rank, std::uint64_t slot, Visit visit) const;
  [[nodiscard]] double after_noise(Rank rank, double time) const;

  std::uint32_t ranks_ = 0;
  std::vector<Absence> absences_;  ///< sorted by begin
  std::optional<Noise> noise_;
  double calls_ = 0;                 ///< in a slot, which is as long as a delay, on average
  std::vector<std::uint64_t> keys_;  ///< per rank
};

}  // namespace hocket
