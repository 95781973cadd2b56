#pragma once
/// Whether one of two ways is faster, from calls in pairs: a test that may be looked at after every pair.
#include <array>
#include <cstdint>

namespace hocket {

/// Natural logarithm of a positive number within 1e-10, by operations that every processor rounds alike.
[[nodiscard]] double exact_log(double x);

/// Evidence on the ratio of incumbent's to challenger's cost, from pairs of calls next to each other.
///
/// With x = log(incumbent / challenger) - log(1 + margin), the test bets on each pair: wealth is multiplied by 1 + b
/// g(x) for an odd, monotone g within [-1, 1]. While the gain is no larger than the margin and noise is alike in both
/// calls (so that x is symmetric about a centre <= 0), E g(x) <= 0, no strategy of bets gains, and the probability that
/// wealth ever reaches 1/p is at most p (Ville's inequality): Waudby-Smith and Ramdas, "Estimating means of bounded
/// random variables by betting", JRSS B 2024. For g = sign it is enough that the median of x is <= 0. The wealth here
/// is the mean over several b and scales of g(x) = x / sqrt(x^2 + scale^2). One pair changes no bet by more than a
/// factor of 1 - b, however long a call took: outliers count as one pair. Deterministic drift within a block A B B A
/// moves one pair up and the other down, and (1 + g)(1 - g) <= 1.
class PairTest {
 public:
  explicit PairTest(double margin);

  /// log(incumbent's cost / challenger's) of one pair.
  void add(double log_ratio);

  /// Evidence that the challenger gains more than the margin: 20 refutes the contrary with an error of 1/20.
  [[nodiscard]] double better() const;
  /// Evidence that it gains less.
  [[nodiscard]] double no_better() const;
  [[nodiscard]] std::uint32_t pairs() const { return pairs_; }

 private:
  static constexpr std::size_t bets = 6;
  double shift_;
  std::array<double, bets> up_, down_;
  std::uint32_t pairs_ = 0;
};

}  // namespace hocket
