#include "hocket/error.hpp"
#include "hocket/schedulers/scheduler.hpp"

namespace hocket {

const Scheduler& choose_scheduler(const Network& network, const Demand& demand) {
  std::string reasons;
  for (const Scheduler& scheduler : schedulers()) {
    if (!scheduler.contention_free) continue;
    const std::string_view reason = scheduler.why_not(network, demand);
    if (reason.empty()) return scheduler;
    reasons += "; " + std::string(scheduler.name) + ": " + std::string(reason);
  }
  throw InputError("no scheduler serves this network" + reasons);
}

}  // namespace hocket
