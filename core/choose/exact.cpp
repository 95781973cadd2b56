#include "core/choose/exact.hpp"

#include <algorithm>
#include <cmath>

namespace hocket {
namespace {

constexpr double log_2 = 0.69314718055994530942;

}  // namespace

double exact_log(double x) {
  constexpr double root_half = 0.70710678118654752440;
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

double exact_exp(double x) {
  constexpr double most = 700;
  x = std::clamp(x, -most, most);
  const double doublings = std::floor(x / log_2 + 0.5), rest = x - doublings * log_2;  // |rest| <= 0.35
  double sum = 1;
  for (int k = 12; k >= 1; --k) sum = 1 + sum * rest / k;
  return std::ldexp(sum, static_cast<int>(doublings));
}

}  // namespace hocket
