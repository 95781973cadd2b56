#include <string>

#include "hocket/error.hpp"
#include "hocket/schedule/bounds.hpp"
#include "hocket/schedulers/scheduler.hpp"
#include "hocket/schedulers/tree_phases.hpp"

namespace hocket {
namespace {

/// The tree schedule sends one message at a time over a trunk, however wide it is.
bool tree_is_optimal(const Network& network, const Demand& demand) {
  return network.tree() != nullptr && TreePhases(network).phases() == lower_bounds(network, demand).phases;
}

}  // namespace

const Scheduler& choose_scheduler(const Network& network, const Demand& demand) {
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
