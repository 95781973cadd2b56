#include <algorithm>
#include <string>

#include "hocket/error.hpp"
#include "hocket/schedule/bounds.hpp"
#include "hocket/schedule/lockstep.hpp"
#include "hocket/schedulers/gather_streams.hpp"
#include "hocket/schedulers/irregular/list.hpp"
#include "hocket/schedulers/scheduler.hpp"
#include "hocket/schedulers/tree_phases.hpp"

namespace hocket {
namespace {

/// The tree schedule sends one message at a time over a trunk, however wide it is.
bool tree_is_optimal(const Network& network, const Demand& demand) {
  return network.tree() != nullptr && TreePhases(network).phases() == lower_bounds(network, demand).phases;
}

/// Trees: the rings that follow the switches. Grids: gossip, which has few phases, if it takes at most
/// 2 % more than the bound. Elsewhere the rails, whose ranks have few partners, unless their load is
/// more than 2 % above the bound and spreading is faster.
const Scheduler& choose_all_gather(const Network& network, const Demand& demand) {
  constexpr std::uint32_t most_ranks_compared = 256;
  const Scheduler& switch_ring = find_scheduler("switch-ring", demand.pattern);
  const Scheduler& rails = find_scheduler("rails", demand.pattern);
  const Scheduler& spreading = find_scheduler("spreading", demand.pattern);
  if (switch_ring.why_not(network, demand).empty()) return switch_ring;
  const double enough = 1.02 * lower_bounds(network, demand).seconds;
  if (const Scheduler& gossip = find_scheduler("gossip", demand.pattern); gossip.why_not(network, demand).empty())
    if (demand.ranks > most_ranks_compared || lockstep_seconds(network, gossip.make(network, demand, {})) <= enough)
      return gossip;
  const std::string_view reason = rails.why_not(network, demand);
  if (!spreading.why_not(network, demand).empty()) {
    if (reason.empty()) return rails;
    throw InputError("no all-gather scheduler serves this network; rails: " + std::string(reason));
  }
  if (!reason.empty()) return spreading;
  algorithms::StreamLoad load;
  (void)algorithms::host_rails(network, demand, load);
  if (load.seconds <= enough) return rails;
  if (demand.ranks > most_ranks_compared) return rails;
  return lockstep_seconds(network, spreading.make(network, demand, {})) < load.seconds ? spreading : rails;
}

/// Whole messages where they come within 5 % of the bound by the clock of `list`, or where cutting them would
/// take seconds; else what cuts them.
const Scheduler& choose_irregular(const Network& network, const Demand& demand) {
  constexpr std::uint64_t most_messages_cut = 16384;
  const Scheduler& list = find_scheduler("list", demand.pattern);
  if (const std::string_view reason = list.why_not(network, demand); !reason.empty())
    throw InputError("no irregular scheduler serves this network; list: " + std::string(reason));
  if (demand.messages() > most_messages_cut) return list;
  const double enough = 1.05 * lower_bounds(network, demand).seconds;
  return algorithms::list_seconds(network, demand, {}) <= enough ? list : find_scheduler("critical", demand.pattern);
}

}  // namespace

const Scheduler& choose_scheduler(const Network& network, const Demand& demand) {
  if (demand.pattern == Pattern::all_gather) return choose_all_gather(network, demand);
  if (demand.pattern == Pattern::irregular) return choose_irregular(network, demand);
  std::string reasons;
  const Scheduler* fallback = nullptr;
  for (const Scheduler& scheduler : schedulers()) {
    if (scheduler.pattern != demand.pattern || !scheduler.contention_free) continue;
    const std::string_view reason = scheduler.why_not(network, demand);
    if (!reason.empty()) {
      reasons += "; " + std::string(scheduler.name) + ": " + std::string(reason);
      continue;
    }
    if (scheduler.name != "tree" || tree_is_optimal(network, demand)) return scheduler;
    fallback = &scheduler;
  }
  if (fallback != nullptr) return *fallback;
  throw InputError("no " + std::string(to_string(demand.pattern)) + " scheduler serves this network" + reasons);
}

}  // namespace hocket
