#include "core/schedulers/plan_exchange.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/limits.hpp"
#include "core/schedule/lockstep.hpp"
#include "core/schedule/token_time.hpp"
#include "core/schedule/turned.hpp"
#include "core/schedulers/dragonfly_phases.hpp"
#include "core/schedulers/gather_streams.hpp"
#include "core/schedulers/irregular/list.hpp"
#include "core/schedulers/nested_shifts.hpp"
#include "core/schedulers/tree_phases.hpp"

namespace hocket {
namespace {

/// What comes by one way may go back by another.
bool has_other_ways_back(const Network& network) {
  return network.shape() == Shape::graph || network.shape() == Shape::routed;
}

/// The tree schedule sends one message at a time over a trunk, however wide it is. Nested shifts take a phase for each
/// place of a subtree, with and without a rank; on dragonflies some messages take turns.
bool is_far(const Scheduler& scheduler, const Network& network, const Bounds& bounds) {
  if (scheduler.name == "tree") return TreePhases(network).phases() != bounds.phases;
  const auto far = [&](std::uint64_t phases) { return !limits::is_near(network.ranks(), phases, bounds.phases); };
  if (scheduler.name == "nested-shifts") return far(NestedShifts::make(network)->phases());
  return scheduler.name == "dragonfly" && far(DragonflyPhases(network).phases());
}

const Scheduler& first_all_to_all(const Network& network, const Demand& demand, const Bounds& bounds) {
  std::string reasons;
  const Scheduler* fallback = nullptr;
  for (const Scheduler& scheduler : schedulers()) {
    if (scheduler.pattern != demand.pattern || !scheduler.contention_free) continue;
    const std::string_view reason = scheduler.why_not(network, demand);
    if (!reason.empty()) {
      reasons += "; " + std::string(scheduler.name) + ": " + std::string(reason);
      continue;
    }
    if (!is_far(scheduler, network, bounds)) return scheduler;
    fallback = &scheduler;
  }
  if (fallback != nullptr) return *fallback;
  throw InputError("no " + std::string(to_string(demand.pattern)) + " scheduler serves this network" + reasons);
}

constexpr std::array<std::string_view, 2> one_giver_schedulers{"disjoint-trees", "group-chain"};

/// What is made for one contribution, if it comes near the bound: then its pipelines have been cut as fine as pays.
const Scheduler* first_of_one_giver(const Network& network, const Demand& demand, const Bounds& bounds) {
  for (const std::string_view name : one_giver_schedulers) {
    const Scheduler& scheduler = find_scheduler(name, demand.pattern);
    if (!scheduler.why_not(network, demand).empty()) continue;
    if (network.tree() != nullptr) return &scheduler;
    if (lockstep_seconds(network, scheduler.make(network, demand, {})) <= limits::near_enough_piped * bounds.seconds)
      return &scheduler;
  }
  return nullptr;
}

/// Trees: the rings that follow the switches. Grids: gossip, which has few phases, if it comes near the bound.
/// Elsewhere the rails, whose ranks have few partners, unless their load is far above the bound and spreading is
/// faster.
const Scheduler& first_all_gather(const Network& network, const Demand& demand, const Bounds& bounds) {
  if (const Scheduler* one_giver = first_of_one_giver(network, demand, bounds)) return *one_giver;
  const Scheduler& switch_ring = find_scheduler("switch-ring", demand.pattern);
  const Scheduler& rails = find_scheduler("rails", demand.pattern);
  const Scheduler& spreading = find_scheduler("spreading", demand.pattern);
  if (switch_ring.why_not(network, demand).empty()) return switch_ring;
  const bool many = demand.ranks > limits::most_ranks_compared;
  const double enough = limits::near_enough * bounds.seconds;
  if (const Scheduler& gossip = find_scheduler("gossip", demand.pattern); gossip.why_not(network, demand).empty())
    if (many || lockstep_seconds(network, gossip.make(network, demand, {})) <= enough) return gossip;
  const std::string_view reason = rails.why_not(network, demand);
  if (!spreading.why_not(network, demand).empty()) {
    if (reason.empty()) return rails;
    throw InputError("no all-gather scheduler serves this network; rails: " + std::string(reason));
  }
  if (!reason.empty()) return spreading;
  algorithms::StreamLoad load;
  (void)algorithms::host_rails(network, demand, load);
  if (load.seconds <= enough || many) return rails;
  return lockstep_seconds(network, spreading.make(network, demand, {})) < load.seconds ? spreading : rails;
}

/// Whole messages where they come near the bound by the clock of `list`, else what cuts them.
const Scheduler& first_irregular(const Network& network, const Demand& demand, const Bounds& bounds) {
  const Scheduler& list = find_scheduler("list", demand.pattern);
  if (const std::string_view reason = list.why_not(network, demand); !reason.empty())
    throw InputError("no irregular scheduler serves this network; list: " + std::string(reason));
  if (demand.messages() > limits::most_messages_cut) return list;
  const double enough = limits::near_enough_uncut * bounds.one_port_seconds();
  return algorithms::list_seconds(network, demand, {}) <= enough ? list : find_scheduler("critical", demand.pattern);
}

const Scheduler& first_choice(const Network& network, const Demand& demand, const Bounds& bounds) {
  switch (demand.pattern) {
    case Pattern::all_to_all:
      return first_all_to_all(network, demand, bounds);
    case Pattern::all_gather:
      return first_all_gather(network, demand, bounds);
    case Pattern::irregular:
      return first_irregular(network, demand, bounds);
    case Pattern::reduce_scatter:
    case Pattern::all_reduce:
      break;  // chosen as all-gathers
  }
  throw InputError("no such pattern");
}

bool predictions_are_compared(const Network& network, const Demand& demand) {
  if (demand.pattern == Pattern::irregular || demand.messages() > limits::most_messages_compared) return false;
  return demand.pattern == Pattern::all_gather || !network.equal_rates();
}

/// The first choice, and what it is compared with. Where links differ, the list, which is the best in three cases of
/// four, comes before it. What is made for one contribution is near the bound; to simulate its
/// many pieces would take minutes. Where messages have a startup there are few, and other ways may need fewer.
std::vector<const Scheduler*> candidates(const Network& network, const Demand& demand, const Bounds& bounds,
                                         double startup) {
  const Scheduler& first = first_choice(network, demand, bounds);
  std::vector<const Scheduler*> found{&first};
  if (!predictions_are_compared(network, demand)) return found;
  const bool for_one_giver = std::ranges::find(one_giver_schedulers, first.name) != std::end(one_giver_schedulers);
  if (for_one_giver && (startup == 0 || network.tree() != nullptr)) return found;
  for (const Scheduler& other : schedulers()) {
    if (other.name == "list" && demand.messages() > limits::most_messages_listed) continue;
    if (other.pattern == demand.pattern && other.contention_free && other.name != first.name &&
        other.why_not(network, demand).empty())
      found.push_back(&other);
  }
  if (demand.pattern == Pattern::all_to_all)
    std::ranges::stable_partition(found, [](const Scheduler* scheduler) { return scheduler->name == "list"; });
  return found;
}

const Scheduler& named(const std::string& name, const Network& network, const Demand& demand) {
  const Scheduler& found = find_scheduler(name, demand.pattern);
  if (const std::string_view reason = found.why_not(network, demand); !reason.empty())
    throw InputError("scheduler '" + name + "' cannot serve this: " + std::string(reason));
  return found;
}

bool better(const ChosenSchedule& a, const ChosenSchedule& b) {
  if (a.prediction->seconds != b.prediction->seconds) return a.prediction->seconds < b.prediction->seconds;
  return a.schedule.phases() < b.schedule.phases();
}

/// Of the candidates, the one that takes least time as it will run; no more than two schedules are in memory. What
/// takes `enough` ends the search.
template <class Make>
ChosenSchedule fastest(const Network& network, const Demand& demand, const std::vector<const Scheduler*>& tried,
                       const SchedulerOptions& costs, std::uint32_t window, double enough, Make make) {
  ChosenSchedule best = make(*tried.front());
  if (tried.size() == 1) return best;
  const auto predict_by_waits = [&](ChosenSchedule& of) {
    of.waits = derive_waits(network, of.schedule, window, costs.sharing);
    of.prediction =
        predict(network, demand, of.schedule, *of.waits, of.scheduler->contention_free, costs.startup, std::nullopt);
  };
  predict_by_waits(best);
  for (std::size_t i = 1; i < tried.size() && best.prediction->seconds > enough; ++i) {
    ChosenSchedule other = make(*tried[i]);
    // A clock without latencies and startups tells at once what gains nothing; the waits take much longer.
    if (costs.sharing != nullptr &&
        token_seconds(network, other.schedule, *costs.sharing) >= limits::worth_waits * best.prediction->seconds)
      continue;
    predict_by_waits(other);
    if (better(other, best)) best = std::move(other);
  }
  return best;
}

/// All-reduces whose halves each follow the routes of their own direction. Turning the all-gather round brings its
/// transfers onto the ways back, where they may meet: then the other half is made for these.
class AllReduces {
 public:
  AllReduces(const Network& network, const Demand& demand, const Bounds& bounds, const ScheduleOptions& options)
      : network_(network), demand_(demand), bounds_(bounds), options_(options) {}

  Schedule of(const Scheduler& scheduler, const Schedule& gather) {
    Schedule whole = turned(network_, Pattern::all_reduce, gather);
    if (!has_other_ways_back(network_)) return whole;
    const double seconds = lockstep_seconds(network_, whole);
    if (seconds <= limits::near_enough * bounds_.seconds) return whole;
    if (!back_) {
      Demand back = demand_;
      back.pattern = Pattern::reduce_scatter;
      back_ = choose_schedule(network_, back, options_);
    }
    if (back_->scheduler->ports != scheduler.ports) return whole;
    Schedule halves = joined(back_->schedule, gather);
    return lockstep_seconds(network_, halves) < seconds ? std::move(halves) : std::move(whole);
  }

 private:
  const Network& network_;
  const Demand& demand_;
  const Bounds& bounds_;
  const ScheduleOptions& options_;
  std::optional<ChosenSchedule> back_;  ///< the reduce-scatter, made when it is first needed
};

}  // namespace

/// Reductions are all-gathers turned round. An all-reduce is two of them: that its halves take their bounds is enough.
ChosenSchedule choose_schedule(const Network& network, const Demand& demand, const ScheduleOptions& options) {
  const bool reduces = demand.reduces(), both = demand.pattern == Pattern::all_reduce;
  const Demand forward = reduces ? gather_of(demand) : demand;
  std::optional<Network> ways_back;
  if (reduces && !both && has_other_ways_back(network)) ways_back.emplace(network.turned_round());
  const Network& made_for = ways_back ? *ways_back : network;
  const Bounds bounds = lower_bounds(network, demand), of_forward = reduces ? lower_bounds(made_for, forward) : bounds;
  SchedulerOptions costs = options.for_scheduler;
  const std::vector<const Scheduler*> tried =
      options.scheduler.empty() ? candidates(made_for, forward, of_forward, costs.startup)
                                : std::vector<const Scheduler*>{&named(options.scheduler, made_for, forward)};
  std::optional<ChannelSharing> sharing;  // of all-to-alls: whatever the schedule, the same messages
  if (tried.size() > 1 && demand.pattern == Pattern::all_to_all)
    costs.sharing = &sharing.emplace(network, each_pair(network, demand.bytes));
  const double bound = least_seconds(network, demand, bounds, costs.startup);
  AllReduces all_reduces(network, demand, bounds, options);
  const auto make = [&](const Scheduler& scheduler) {
    Schedule schedule = scheduler.make(made_for, forward, costs);
    if (reduces) schedule = both ? all_reduces.of(scheduler, schedule) : turned(network, demand.pattern, schedule);
    return ChosenSchedule{&scheduler, std::move(schedule), bounds,
                          least_phases(network, demand, bounds, scheduler.ports), bound};
  };
  const double enough = limits::near_enough * std::max(bound, both ? 2 * of_forward.seconds : 0);
  return fastest(network, demand, tried, costs, options.window.value_or(run_window(demand)), enough, make);
}

PlannedExchange plan_exchange(const Network& network, const Demand& demand, const ScheduleOptions& options) {
  ChosenSchedule chosen = choose_schedule(network, demand, options);
  Waits waits = chosen.waits ? *std::exchange(chosen.waits, std::nullopt)
                             : derive_waits(network, chosen.schedule, options.window.value_or(run_window(demand)));
  return {std::move(chosen), std::move(waits)};
}

Prediction predict(const Network& network, const Demand& demand, const PlannedExchange& planned, double startup,
                   std::uint64_t most_steps) {
  const ChosenSchedule& chosen = planned.chosen;
  if (chosen.prediction) return *chosen.prediction;
  return predict(network, demand, chosen.schedule, planned.waits, chosen.scheduler->contention_free, startup,
                 most_steps);
}

}  // namespace hocket
