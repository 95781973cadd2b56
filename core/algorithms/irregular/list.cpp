/// "list": whole messages in the order in which they would start in continuous time. The phases are the
/// levels of that order, so that none has contention; run with tokens, a message starts when those before
/// it on its route are over, not when a phase is.
///
/// List scheduling: Graham 1969. Several tries, in which messages that came late become more urgent: after
/// Joslin and Clements, "Squeaky wheel" optimization (1999).

#include "core/algorithms/irregular/workload.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"
#include "core/algorithms/shared/random.hpp"
#include "core/limits.hpp"
#include "core/model/simulate.hpp"

namespace hocket::algorithms {
namespace {

constexpr double enough = 1.01;                   ///< times the bound
constexpr std::uint64_t most_needs = 40'000;      ///< looked at before no further try is made
constexpr std::uint64_t most_simulated = 60'000;  ///< messages of all tries together
constexpr double most_noise = 0.4, lateness = 4;  ///< for late messages: most random increase, weight of lateness

Starts best_starts(const Claims& work, const AlgorithmOptions& costs) {
  Random random(costs.seed);
  const double bound = work.bound();
  std::uint64_t needs = 0, looked_at = 0;
  for (std::uint32_t m = 0; m < work.size(); ++m) needs += work.of(m).size();
  std::vector<double> factor(work.size(), 1);
  Starts best;
  for (Urgency urgency = Urgency::sum;; urgency = urgency == Urgency::sum ? Urgency::largest : Urgency::sum) {
    Starts starts = list_starts(work, urgency, factor);
    for (std::uint32_t m = 0; m < work.size(); ++m) {
      if (starts.end[m] <= bound) continue;
      const double noise = most_noise * random.below(1024) / 1024;
      factor[m] *= 1 + lateness * (starts.end[m] / bound - 1) + noise;
    }
    if (best.order.empty() || starts.seconds < best.seconds) best = std::move(starts);
    looked_at += needs;
    if (best.seconds <= enough * bound || looked_at + needs > most_needs) return best;
  }
}

/// On every resource levels never fall in the order of starts, and rise after as many messages as it carries
/// at once.
std::vector<std::uint32_t> levels(const Workload& work, const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> level(work.size(), 0), last(work.resources(), 0), used(work.resources(), 0);
  for (const std::uint32_t message : order) {
    std::uint32_t least = 0;
    for (const std::uint32_t r : work.needs(message)) least = std::max(least, last[r] + (used[r] == work.capacity(r)));
    for (const std::uint32_t r : work.needs(message)) {
      used[r] = least == last[r] ? used[r] + 1 : 1;
      last[r] = least;
    }
    level[message] = least;
  }
  return level;
}

Schedule of_equal_messages(const Demand& demand, const Workload& work, const std::vector<std::uint32_t>& order) {
  const std::vector<std::uint32_t> level = levels(work, order);
  std::vector<Hop> hops;
  std::vector<std::uint32_t> phase_of;
  std::uint32_t phases = 0;
  for (const std::uint32_t message : order) {
    hops.push_back({work.message(message).src, work.message(message).dst});
    phase_of.push_back(level[message]);
    phases = std::max(phases, level[message] + 1);
  }
  return group_by_phase(demand.ranks, demand.bytes, phases, phase_of, hops);
}

/// The clock of the list knows only the speed that shares ensure. Here tries are compared, and messages found late, by
/// simulation, as long as that takes a fraction of a second.
Schedule all_to_all_list(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  const Workload work(network, demand);
  const std::uint64_t tries = 1 + most_simulated / std::max<std::uint64_t>(work.size(), 1);
  std::vector<double> factor(work.size(), 1);
  std::optional<ChannelSharing> made;
  const ChannelSharing* sharing = costs.sharing;
  std::vector<Claims> claims;  // one per way to claim; only one where links are equal
  if (network.equal_rates()) {
    claims.emplace_back(network, work);
  } else {
    if (sharing == nullptr) sharing = &made.emplace(network, each_pair(network, demand.bytes));
    claims.emplace_back(network, work, sharing->by(Claiming::alike));
    if (tries > 1) claims.emplace_back(network, work, sharing->by(Claiming::exactly));
  }
  if (tries == 1) return of_equal_messages(demand, work, list_starts(claims.front(), Urgency::sum, factor).order);
  const double bound = lower_bounds(network, demand).seconds;
  ModelParameters parameters;
  parameters.alpha = costs.alpha;
  Random random(costs.seed);
  std::optional<Schedule> best;
  double least = std::numeric_limits<double>::infinity();
  std::size_t better = 0;
  for (std::uint64_t i = 0; i < tries; ++i) {
    const Urgency urgency = i % 2 == 0 ? Urgency::sum : Urgency::largest;
    const std::size_t claiming = i < 8 ? i / 2 % claims.size() : better;
    Schedule schedule = of_equal_messages(demand, work, list_starts(claims[claiming], urgency, factor).order);
    const Waits waits = derive_waits(network, schedule, 1, sharing);
    const Simulation run = simulate(network, schedule, &waits, {FlowControl::Kind::window, 1}, parameters);
    for (std::uint64_t t = 0; t < schedule.size(); ++t) {
      if (run.end[t] <= bound) continue;
      const auto [src, dst] = schedule.hops()[t];
      const double noise = most_noise * random.below(1024) / 1024;
      factor[std::uint64_t{src} * (demand.ranks - 1) + dst - (dst > src ? 1 : 0)] *=
          1 + lateness * (run.end[t] / bound - 1) + noise;
    }
    if (run.seconds < least) {
      least = run.seconds;
      better = claiming;
      best = std::move(schedule);
    }
    if (least <= enough * bound) break;
  }
  return std::move(*best);
}

/// Seconds until the last message is over if nothing but the wires takes time; cheaper than the schedule and
/// its simulation.
double list_seconds(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  return best_starts(Claims(network, Workload(network, demand)), costs).seconds;
}

}  // namespace

static Schedule make_list(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  if (!demand.by_matrix()) return all_to_all_list(network, demand, costs);
  const Workload work(network, demand);
  std::vector<std::uint32_t> order = best_starts(Claims(network, work), costs).order;
  const std::vector<std::uint32_t> level = levels(work, order);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t message) { return level[message]; });
  PhaseWriter writer(demand);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && level[order[i]] != level[order[i - 1]]) writer.end_phase();
    const Message& message = work.message(order[i]);
    writer.send(message.src, message.dst, 0, message.bytes);
  }
  return writer.finish();
}

constinit const Algorithm list{
    .pattern = Pattern::all_to_all,
    .name = "list",
    .summary = "each message when its route has room, in continuous time; unequal links",
    .source = "own; list scheduling: Graham",
    .contention_free = true,
    .make = make_list,
    .rank = 7,
};

/// Uses the estimated time of `list`. False where there are too many messages to cut: cutting them would take long.
static bool list_is_far(const Network& network, const Demand& demand, const Bounds& bounds) {
  return demand.messages() <= limits::most_messages_cut &&
         list_seconds(network, demand, {}) > limits::near_enough_uncut * bounds.one_port_seconds();
}

constinit const Algorithm irregular_list{
    .pattern = Pattern::irregular,
    .name = "list",
    .summary = "whole messages, each when its route is free; to be run with tokens",
    .source = "own; list scheduling: Graham",
    .contention_free = true,
    .make = make_list,
    .guarantee = "no message is split",
    .rank = 1,
    .is_far = list_is_far,
};

}  // namespace hocket::algorithms
