#include "core/choose/simulated.hpp"

#include "core/model/cost_profile.hpp"
#include "core/schedule/waits.hpp"

namespace hocket {

ModelParameters costs_of_steps(const Network& network, double step_seconds, double overhead) {
  return {.alpha = step_seconds / 4,
          .receive = step_seconds / 4,
          .token = step_seconds / 4,
          .token_work = step_seconds / 8,
          .overhead = overhead,
          .latencies = {0.0},
          .contention = profile_of(network).contention};
}

std::optional<double> simulated_seconds(const Network& network, const Schedule& schedule, const Candidate& candidate,
                                        const ModelParameters& costs) {
  constexpr std::uint64_t most_steps = 5'000'000;
  if (candidate.window == 0) return {};
  const Waits waits = derive_waits(network, schedule, candidate.window);
  const FlowControl flow{candidate.free ? FlowControl::Kind::free : FlowControl::Kind::window, candidate.window};
  const auto found = simulate_within(most_steps, network, schedule, &waits, flow, costs);
  if (!found) return {};
  return found->seconds;
}

}  // namespace hocket
