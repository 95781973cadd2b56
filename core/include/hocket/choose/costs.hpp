#pragma once
/// What calls by one arm have cost of late.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace hocket {

/// What can be the duration of a call, seconds.
[[nodiscard]] inline bool is_cost(double seconds) { return seconds >= 1e-12 && seconds <= 1e9; }

/// A call that took longer, times what is typical, counts as this.
inline constexpr double outlier = 4;

inline constexpr std::size_t costs_kept = 16;

/// Whether two or more of these are costs, and all of those are above a limit: a single call may just wait for a
/// retransmission.
[[nodiscard]] bool all_longer(std::span<const double> seconds, double limit);

/// The last few costs of an arm, seconds.
class Costs {
 public:
  void add(double seconds);
  /// All but the last `count`.
  void forget(std::size_t count);

  [[nodiscard]] bool empty() const { return last_.empty(); }
  [[nodiscard]] std::size_t size() const { return last_.size(); }
  /// The median; NaN: nothing is known.
  [[nodiscard]] double typical() const { return typical_; }
  /// The mean of the last `count`, of which none counts more than `outlier` times the median.
  [[nodiscard]] double mean(std::size_t count) const;
  /// Half the distance between the quartiles over the median.
  [[nodiscard]] double spread() const { return spread_; }
  /// The median of the last `count`.
  [[nodiscard]] double median(std::size_t count) const;
  /// Of all that are kept; infinite: nothing is known.
  [[nodiscard]] double least() const;

 private:
  void summarise();
  [[nodiscard]] std::vector<double> last(std::size_t count) const;

  std::vector<double> last_;  // oldest first
  double typical_ = std::numeric_limits<double>::quiet_NaN();
  double spread_ = 0;
};

}  // namespace hocket
