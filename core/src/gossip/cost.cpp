#include "hocket/gossip/cost.hpp"

#include <algorithm>
#include <string>

#include "hocket/error.hpp"

namespace hocket::gossip {
namespace {

void append(Volumes& to, const Volumes& more) { to.insert(to.end(), more.begin(), more.end()); }

Volumes ins_volumes(std::uint32_t f, std::uint32_t b, double message) {
  if (f < 2) return {};
  if (b < f / 2 || b == 0)
    throw InputError("a round of factor " + std::to_string(f) + " needs at least " + std::to_string(f / 2) + " steps");
  return Volumes(b, message / static_cast<double>(2ULL * b - f + 2));
}

/// Enough rounds to go from segments of `gap` to gaps of 1.
Volumes rounds_volumes(std::uint32_t gap, double message, const std::vector<Round>& rounds) {
  Volumes volumes;
  for (const Round& round : rounds) {
    if (round.factor < 2) throw InputError("a round must multiply the bridgeheads by at least 2");
    const std::uint32_t f = std::min(round.factor, gap);
    append(volumes, ins_volumes(f, round.steps, message));
    gap = (gap + f - 1) / f;
  }
  if (gap > 1) throw InputError("the rounds leave gaps of " + std::to_string(gap) + " between bridgeheads");
  return volumes;
}

}  // namespace

std::uint32_t ceil_log(std::uint32_t base, std::uint64_t n) {
  std::uint32_t log = 0;
  for (std::uint64_t power = 1; power < n; power *= base) ++log;
  return log;
}

Cost sum(const Volumes& volumes) {
  Cost cost{volumes.size(), 0};
  for (const double volume : volumes) cost.volume += volume;
  return cost;
}

Volumes side_by_side(Volumes a, const Volumes& b) {
  if (a.size() < b.size()) a.resize(b.size(), 0);
  for (std::size_t i = 0; i < b.size(); ++i) a[i] = std::max(a[i], b[i]);
  return a;
}

Volumes conc_volumes(std::uint32_t g, double message) {
  // From the last step, which sends the outer parts to the centre's head, back to the first. The parts
  // are those of conc_parts() in blocks.hpp; no other part is larger than the centre.
  Volumes volumes;
  while (g > 1) {
    const std::uint32_t j = g / 3;
    const bool thirds_rounded_up = g % 3 == 2 && j % 2 == 0;
    const std::uint32_t outer = thirds_rounded_up ? j + 1 : j;
    volumes.push_back(outer * message);
    g -= thirds_rounded_up ? 2 * j + 1 : 2 * j;
  }
  std::reverse(volumes.begin(), volumes.end());
  return volumes;
}

Volumes circ_volumes(std::uint32_t c, double message) {
  Volumes volumes(c / 2, message);
  if (c % 2 == 0 && c > 0) volumes.back() = message / 2;
  return volumes;
}

Cost conc_cost(std::uint32_t g, double message) { return {ceil_log(3, g), g / 2 * message}; }

Cost circ_cost(std::uint32_t c, double message) { return {c / 2, c > 0 ? (c - 1) * message / 2 : 0}; }

Cost ins_cost(std::uint32_t f, std::uint32_t b, double message) { return sum(ins_volumes(f, b, message)); }

Volumes ring_volumes(std::uint32_t n, double message, const RingPlan& plan) {
  if (n == 0) throw InputError("a ring has at least one processor");
  switch (plan.kind) {
    case RingPlan::approach1:
      return circ_volumes(n, message);
    case RingPlan::approach2: {
      Volumes volumes = conc_volumes(n, message);
      append(volumes, Volumes(ceil_log(3, n), n * message));
      return volumes;
    }
    case RingPlan::circgos:
      break;
  }
  if (plan.a == 0 || plan.a > n)
    throw InputError("a ring of " + std::to_string(n) + " cannot have " + std::to_string(plan.a) + " bridgeheads");
  const std::uint32_t segment = (n + plan.a - 1) / plan.a;
  Volumes volumes = conc_volumes(segment, message);
  append(volumes, circ_volumes(plan.a, segment * message));
  append(volumes, rounds_volumes(segment, n * message, plan.rounds));
  return volumes;
}

Cost ring_cost(std::uint32_t n, double message, const RingPlan& plan) { return sum(ring_volumes(n, message, plan)); }

Cost high_dim_cost(std::span<const std::uint32_t> sides, const std::vector<std::vector<RingPlan>>& plans,
                   bool coloured) {
  const std::size_t d = sides.size();
  if (plans.size() != d) throw InputError("one plan, or one for every axis, is needed for each of the phases");
  const std::size_t colours = coloured ? d : 1;
  std::vector<double> held(colours, 1.0 / static_cast<double>(colours));
  Cost cost;
  for (std::size_t phase = 0; phase < d; ++phase) {
    if (plans[phase].size() != 1 && plans[phase].size() != d)
      throw InputError("a phase has one plan, or one for every axis");
    Volumes volumes;
    for (std::size_t colour = 0; colour < colours; ++colour) {
      const std::size_t axis = (colour + phase) % d;
      const RingPlan& plan = plans[phase][plans[phase].size() == 1 ? 0 : axis];
      volumes = side_by_side(std::move(volumes), ring_volumes(sides[axis], held[colour], plan));
      held[colour] *= sides[axis];
    }
    cost += sum(volumes);
  }
  return cost;
}

Cost cubgos_cost(std::uint32_t n, std::uint32_t d, std::uint32_t a, const std::vector<Round>& rounds, bool coloured) {
  if (d == 0 || a == 0 || n % a != 0) throw InputError("the bridgeheads must divide the side");
  Cost cost = conc_cost(n / a);
  double message = n / a;
  for (std::uint32_t axis = 0; axis < d; ++axis) {
    cost += circ_cost(a, message);
    message *= a;
  }
  std::uint32_t bridgeheads = a;
  for (const Round& round : rounds) {
    if (round.factor < 2 || n / bridgeheads % round.factor != 0)
      throw InputError("a round's factor must divide the distance between bridgeheads");
    cost += ins_cost(round.factor, round.steps, message);
    for (std::uint32_t axis = 1; axis < d; ++axis) {
      cost += circ_cost(round.factor, message);
      message *= round.factor;
    }
    bridgeheads *= round.factor;
  }
  if (bridgeheads != n) throw InputError("the rounds leave processors that are no bridgeheads");
  if (coloured) cost.volume /= d;
  return cost;
}

}  // namespace hocket::gossip
