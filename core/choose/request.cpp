#include "core/choose/request.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <utility>

#include "core/algorithms/baselines/library_calls.hpp"
#include "core/choose/forecast.hpp"

namespace hocket {
namespace {

/// One message between any two hosts, and both levels verified; by at most so many steps of simulation.
Plan plan_two_level(const Network& network, const Demand& demand, ScheduleOptions options, const RunCosts& costs,
                    std::uint64_t steps = limits::most_simulation_steps) {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto seconds_since = [&](auto begun) { return std::chrono::duration<double>(now() - begun).count(); };
  HostGroups groups = groups_of(network);
  const auto between = std::make_shared<const Network>(one_rank_a_host(network));
  auto begun = now();
  options.whole = true;
  Plan planned = plan(*between, scheduled_between(groups, demand), options);
  planned.network = between;
  TwoLevelPlan both{aggregate(std::move(groups), demand, planned.schedule), {}};
  const Schedule& schedule = both.exchange.schedule;
  planned.plan_seconds = seconds_since(begun);
  begun = now();
  const PortModel ports = ports_of(planned.algorithm, both.exchange.between.pattern);
  both.certificate = verify_two_level(*between, both.exchange, &planned.waits, costs.host_memory, ports);
  planned.verify_seconds = seconds_since(begun);
  std::uint64_t longest = 0;
  for (std::uint64_t i = 0; i < schedule.size(); ++i) longest = std::max(longest, schedule.length(i));
  const ModelParameters by = costs.of_messages(longest, costs.segment);
  both.time = two_level_seconds(*between, both.exchange, planned.waits, by, costs.memory(), steps);
  planned.two_level = std::make_shared<TwoLevelPlan>(std::move(both));
  return planned;
}

/// None if they are unknown or the verifier refuses the plan.
std::optional<double> aggregated_seconds(const Network& network, const Demand& demand, const RunCosts& costs,
                                         std::uint64_t steps, std::optional<std::uint32_t> window = {}) {
  const Plan planned = plan_two_level(network, demand, {.window = window}, costs, steps);
  if (!planned.two_level->time || !planned.two_level->certificate.ok()) return {};
  return planned.two_level->time->seconds();
}

std::optional<double> direct_seconds(const Network& network, const Demand& demand, const RunCosts& costs,
                                     std::uint64_t steps) {
  const Plan planned = plan(network, demand);
  const ModelParameters by = costs.of_messages(demand.bytes, costs.segment);
  std::optional<double> least;
  for (const std::uint32_t window : {1U, 2U}) {
    const Waits waits = derive_waits(network, planned.schedule, window);
    const FlowControl flow{FlowControl::Kind::window, window};
    const auto found = simulate_within(steps, network, planned.schedule, &waits, flow, by);
    if (found && (!least || found->seconds < *least)) least = found->seconds;
  }
  return least;
}

std::optional<std::uint64_t> faster_up_to(const Network& network, Pattern pattern, const RunCosts& costs,
                                          std::uint64_t steps) {
  const Collective& collective = find_collective(to_string(pattern));
  int low = -1, high = 24;  // 2^low: faster, 2^high: not, far beyond where anything is aggregated
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    const Demand demand = collective.demand(network.ranks(), std::uint64_t{1} << middle, 0);
    bool faster = false;
    if (runs_two_level(groups_of(network), demand, costs.host_memory)) {
      const auto aggregated = aggregated_seconds(network, demand, costs, steps);
      const auto direct = direct_seconds(network, demand, costs, steps);
      if (!aggregated || !direct) return {};
      faster = *aggregated < *direct;
    }
    (faster ? low : high) = middle;
  }
  return low < 0 ? 0 : std::uint64_t{1} << low;
}

/// Fills in what aggregates are compared with.
void compare(TwoLevelPlan& plan, const Network& network, const RunCosts& costs, std::uint64_t most_messages) {
  constexpr std::uint64_t most_steps = 20'000'000;  // of each simulation
  const Demand& demand = plan.exchange.demand;
  const HostGroups& groups = plan.exchange.groups;
  if (demand.by_matrix())
    demand.matrix.each(
        [&](Rank src, Rank dst, std::uint64_t) { plan.direct_messages += groups.host_of[src] != groups.host_of[dst]; });
  else if (demand.by_blocks())
    plan.direct_messages = demand.messages();
  else
    for (const auto& ranks : groups.ranks) plan.direct_messages += ranks.size() * (demand.ranks - ranks.size());
  if (plan.direct_messages > most_messages) return;
  plan.direct_seconds = direct_seconds(network, demand, costs, most_steps);
  if (!demand.by_matrix()) plan.faster_up_to = faster_up_to(network, demand.pattern, costs, most_steps);
}

void sort(std::vector<Estimate>& estimates) {
  std::ranges::stable_sort(
      estimates, {}, [](const Estimate& one) { return one.seconds.value_or(std::numeric_limits<double>::infinity()); });
}

}  // namespace

bool runs_two_level(const HostGroups& groups, const Demand& demand, std::uint64_t host_memory) {
  if (demand.pattern == Pattern::reduce_scatter || demand.only_block() || !why_not_two_level(groups, demand).empty())
    return false;
  const auto& blocks = demand.contributions;
  const std::uint64_t vector =
      blocks.empty() ? demand.ranks * demand.bytes : std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0});
  return vectors_held(groups, demand.pattern) * vector <= host_memory;
}

Forecast forecast(const Plan& plan, const RunCosts& costs, std::uint64_t most_messages) {
  constexpr std::uint64_t most_steps = 5'000'000;  // of each simulation
  const Network& network = *plan.network;
  const Demand& demand = plan.demand;
  Forecast found;
  if (demand.by_matrix()) return found;
  if (plan.schedule.size() <= most_messages) {
    const HostGroups groups = groups_of(network);
    const bool aggregates = runs_two_level(groups, demand, costs.host_memory);
    const bool all_lead = demand.pattern == Pattern::all_to_all && groups.fewest > 1;
    const CallFacts facts{.bytes = demand.bytes,
                          .ranks = static_cast<int>(network.ranks()),
                          .usual_window = run_window(demand),
                          .segment = costs.segment};
    for (const Candidate& one : all_candidates) {
      if (!is_offered(one, facts) || (one.two_level ? !aggregates || (one.all_lead && !all_lead) : one.window == 0))
        continue;
      const ModelParameters by = costs.of_messages(demand.bytes, one.large ? large_segment : costs.segment);
      std::optional<double> seconds;
      if (!one.two_level)
        seconds = simulated_seconds(network, plan.schedule, one, by);
      else if (one.window > 0 && !one.free)  // others have no waits to simulate
        seconds = aggregated_seconds(network, demand, costs, most_steps, one.window);
      found.candidates.push_back({one.name, seconds});
    }
    sort(found.candidates);
  }
  const bool simulates = !found.candidates.empty();
  for (const LibraryCall* const call : library_calls(demand)) {
    if (!simulates && call->flow.kind != FlowControl::Kind::steps) continue;
    const Schedule made = call->make(network, demand);
    const ModelParameters by = costs.of_messages(demand.bytes, 0);
    if (!simulates)
      found.library.push_back({call->name, lockstep_seconds(network, made)});
    else if (const auto whole = simulate_within(most_steps, network, made, nullptr, call->flow, by))
      found.library.push_back({call->name, whole->seconds});
  }
  if (simulates) sort(found.library);
  return found;
}

Plan plan(const PlanRequest& request) {
  const auto& [network, demand, options, two_level, bounds, costs, most_compared] = request;
  if (two_level) {
    Plan made = plan_two_level(*network, demand, options, costs.value());
    if (most_compared > 0) compare(*made.two_level, *network, *costs, most_compared);
    return made;
  }
  Plan made = plan(*network, demand, options);
  made.network = network;
  if (bounds && demand.pattern == Pattern::all_to_all)
    made.bounds = true_bounds(*network, demand, made.schedule.direct());
  if (costs) made.forecast = forecast(made, *costs, most_compared);
  return made;
}

}  // namespace hocket
