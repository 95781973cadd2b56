#include "literal.hpp"

#include <cmath>

#include "core/error.hpp"
#include "core/gossip/search.hpp"

namespace hocket::gossip {
namespace {

void check(std::uint32_t n, double r) {
  if (n == 0 || n > (1u << 20)) throw InputError("a ring needs 1 to 2^20 processors");
  if (!(r >= 0) || !std::isfinite(r)) throw InputError("r must be a number of at least 0");
}

/// S(g) of the paper's concentration: items that the head of g receives one after the other.
std::uint64_t concentrated(std::uint64_t g) {
  std::uint64_t sum = 0;
  while (g > 2) {
    const std::uint64_t outer = (g + 1) / 3;
    sum += outer;
    g -= 2 * outer;
  }
  return sum + (g == 2 ? 1 : 0);
}

}  // namespace

double literal_circgos(std::uint32_t n, std::uint32_t a, std::uint32_t b, double r) {
  check(n, r);
  if (a == 0 || n % a != 0 || (a == 1 && n > 1)) throw InputError("the bridgeheads must divide the ring");
  const std::uint32_t segment = n / a;
  const std::uint32_t rounds = segment > 1 ? ceil_log(a, segment) : 0;
  if (rounds > 0 && (b < a / 2 || b == 0)) throw InputError("a round needs at least half as many steps as its factor");
  double time = ceil_log(3, segment) * r + static_cast<double>(concentrated(segment)) + a / 2 * (r + segment);
  if (rounds > 0) time += rounds * (b * (r + static_cast<double>(n) / (2.0 * b - a + 2)));
  return time;
}

LiteralPlan best_literal_circgos(std::uint32_t n, double r) {
  check(n, r);
  LiteralPlan best{n, 0, literal_circgos(n, n, 0, r)};
  for (std::uint32_t a = 2; a < n; ++a) {
    if (n % a != 0) continue;
    const std::uint32_t b = best_round(a, n, r).steps;
    const double time = literal_circgos(n, a, b, r);
    if (time < best.time) best = {a, b, time};
  }
  return best;
}

}  // namespace hocket::gossip
