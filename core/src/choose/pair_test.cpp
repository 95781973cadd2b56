#include "hocket/choose/pair_test.hpp"

#include <cmath>
#include <numeric>

namespace hocket {
namespace {

/// A share of the wealth bets a fraction of itself on each pair, by a scale of log ratios. Scale 0: on signs alone.
struct Bet {
  double share, fraction, scale;
};
// Six pairs without exception should do, which bold bets on signs are for; the others find gains of the size of the
// noise. Chosen by bench/choose/noise.py.
constexpr std::array<Bet, 6> all_bets{
    {{.40, .98, 0}, {.20, .98, .1}, {.10, .9, .3}, {.10, .5, .1}, {.15, .5, .3}, {.05, .25, .2}}};

double squashed(double x, double scale) {
  if (scale == 0) return (x > 0) - (x < 0);
  return x / std::sqrt(x * x + scale * scale);
}

}  // namespace

double exact_log(double x) {
  constexpr double log_2 = 0.69314718055994530942, root_half = 0.70710678118654752440;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < root_half) {
    mantissa *= 2;
    --exponent;
  }
  const double z = (mantissa - 1) / (mantissa + 1), square = z * z;  // |z| <= 0.172
  double sum = 0;
  for (int odd = 13; odd >= 1; odd -= 2) sum = sum * square + 1.0 / odd;
  return 2 * z * sum + exponent * log_2;
}

PairTest::PairTest(double margin) : shift_(exact_log(1 + margin)) {
  static_assert(bets == all_bets.size());
  for (std::size_t i = 0; i < bets; ++i) up_[i] = down_[i] = all_bets[i].share;
}

void PairTest::add(double log_ratio) {
  const double x = log_ratio - shift_;
  for (std::size_t i = 0; i < bets; ++i) {
    const double bet = all_bets[i].fraction * squashed(x, all_bets[i].scale);
    up_[i] *= 1 + bet;
    down_[i] *= 1 - bet;
  }
  ++pairs_;
}

double PairTest::better() const { return std::accumulate(up_.begin(), up_.end(), 0.0); }
double PairTest::no_better() const { return std::accumulate(down_.begin(), down_.end(), 0.0); }

}  // namespace hocket
