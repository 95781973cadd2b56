#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.hpp"
#include "core/gossip/search.hpp"

namespace hocket::gossip {
namespace {

/// A message of an insertion is cut into so many chunks at most, lest r = 0 cut it forever.
constexpr double most_chunks = 4096;

/// The cheapest rounds from a gap down to 1. Gaps only take the values ⌈n/x⌉, so few are visited.
class Rounds {
 public:
  Rounds(double message, double r, Ports ports) : message_(message), r_(r), ports_(ports) {}

  double time(std::uint32_t gap) { return gap <= 1 ? 0 : of(gap).time; }

  std::vector<Round> list(std::uint32_t gap) {
    std::vector<Round> rounds;
    while (gap > 1) {
      const Round round = of(gap).first;
      rounds.push_back(round);
      gap = (gap + round.factor - 1) / round.factor;
    }
    return rounds;
  }

 private:
  struct Best {
    double time = INFINITY;
    Round first;
  };

  const Best& of(std::uint32_t gap) {
    if (const auto known = best_.find(gap); known != best_.end()) return known->second;
    Best best;
    for (std::uint32_t factor = 2, rest = 0; factor <= gap; ++factor) {
      const std::uint32_t left = (gap + factor - 1) / factor;
      if (left == rest) continue;  // a smaller factor leaves the same gap
      rest = left;
      const Round round = best_round(factor, message_, r_, ports_);
      const double now = ins_cost(factor, round.steps, message_, ports_).time(r_) + time(left);
      if (now < best.time) best = {now, round};
    }
    return best_[gap] = best;
  }

  double message_, r_;
  Ports ports_;
  std::map<std::uint32_t, Best> best_;
};

void check(std::uint32_t n, double message, double r) {
  if (n == 0 || n > (1u << 20)) throw InputError("a ring or array needs 1 to 2^20 processors");
  if (!(message >= 0) || !(r >= 0) || !std::isfinite(r) || !std::isfinite(message))
    throw InputError("r and the message must be numbers of at least 0");
}

}  // namespace

Round best_round(std::uint32_t factor, double message, double r, Ports ports) {
  if (factor < 2) throw InputError("a round must multiply the bridgeheads by at least 2");
  const bool duplex = ports == Ports::all;
  const std::uint32_t least = duplex ? factor / 2 : (factor + 1) / 2;
  // Between the least and the real minimum the time falls, beyond it rises; all depends on the chunks.
  const double surplus = duplex ? factor - 2.0 : (factor > 2 ? least - 2.0 : 0.0);
  double chunks = 1;
  if (surplus > 0) chunks = r > 0 ? std::sqrt(surplus * message / (duplex ? r : 2 * r)) : most_chunks;
  chunks = std::clamp(chunks, 1.0, most_chunks);
  // Chunks to steps: k = 2b − f + 2 for all ports, k = (b − ⌈f/2⌉)/2 + 1 for half duplex.
  const double steps = duplex ? (factor - 2 + chunks) / 2 : factor > 2 ? least + 2 * (chunks - 1) : 1;
  Round best{factor, std::max(1u, least)};
  double time = ins_cost(factor, best.steps, message, ports).time(r);
  for (std::int64_t b = static_cast<std::int64_t>(steps) - 2; b <= static_cast<std::int64_t>(steps) + 3; ++b) {
    if (b < best.steps || b < least) continue;
    const auto candidate = static_cast<std::uint32_t>(b);
    const double now = ins_cost(factor, candidate, message, ports).time(r);
    if (now < time) best.steps = candidate, time = now;
  }
  return best;
}

RingPlan best_circgos(std::uint32_t n, double message, double r, Model model) {
  check(n, message, r);
  Rounds rounds(n * message, r, model.ports);
  RingPlan plan{RingPlan::circgos, model.wraparound || n == 1 ? 1u : 2u, {}};
  double best = INFINITY;
  std::uint32_t last = 0;
  for (std::uint32_t a = plan.a; a <= n; ++a) {
    // Bridgeheads beyond the fewest for a gap only make the circulation longer, except that half-duplex
    // circulation prefers even numbers.
    const std::uint32_t gap = model.wraparound ? (n + a - 1) / a : n > 1 ? (n - 1 + a - 2) / (a - 1) : 1;
    const bool parity = model.ports == Ports::half_duplex && a % 2 == 0;
    if (gap == last && !parity) continue;
    last = gap;
    double time = 0;
    if (model.wraparound && model.ports == Ports::all) {
      time = (conc_cost(gap, message) + circ_cost(a, gap * message)).time(r) + rounds.time(gap);
    } else {
      if (parity && a > 64 && (n + a - 1) / a == (n + a - 3) / (a - 2)) continue;
      // On an array, what an end lacks comes through one link, in a − 1 steps at least.
      const double least = (a - 1) * r + (n - gap) * message + rounds.time(gap);
      if (!model.wraparound && least >= best) continue;
      time = ring_cost(n, message, {RingPlan::circgos, a, rounds.list(gap)}, model).time(r);
    }
    if (time < best) {
      best = time;
      plan.a = a;
    }
  }
  const std::uint32_t gap = model.wraparound ? (n + plan.a - 1) / plan.a
                            : n > 1          ? (n - 1 + plan.a - 2) / (plan.a - 1)
                                             : 1;
  plan.rounds = rounds.list(gap);
  return plan;
}

RingPlan best_ring_plan(std::uint32_t n, double message, double r, Model model) {
  RingPlan best{RingPlan::approach1, 1, {}};
  double time = ring_cost(n, message, best, model).time(r);
  for (const RingPlan& plan : {RingPlan{RingPlan::approach2, 1, {}}, best_circgos(n, message, r, model)}) {
    const double now = ring_cost(n, message, plan, model).time(r);
    if (now < time) best = plan, time = now;
  }
  return best;
}

}  // namespace hocket::gossip
