#include "core/choose/simulated.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

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

Schedule with_drawn_sizes(const Schedule& schedule, unsigned sparse, unsigned skewed) {
  std::mt19937_64 random(1);
  const auto share = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };  // between 0 and 1
  const auto weight = [&] {
    constexpr double longest = 100;
    const double u = share();
    if (skewed == 0) return 0.5 + u;
    return skewed == 1 ? -std::log(u) : std::min(std::pow(u, -1 / 1.5) / 3, longest);
  };
  const double pairs = std::ldexp(1.0, static_cast<int>(2 * sparse));
  PieceLists pieces;
  for (const Hop& hop : schedule.hops()) {
    const double times = share() * pairs < 1 ? pairs * weight() : 0;
    const double bytes =
        std::max(1.0, times * static_cast<double>(schedule.message_bytes()));  // empty ones are signals
    pieces.pieces.push_back({hop.src, hop.dst, 0, static_cast<std::uint64_t>(bytes)});
    pieces.end_list();
  }
  return {schedule.ranks(),
          schedule.message_bytes(),
          {schedule.phase_begin().begin(), schedule.phase_begin().end()},
          {schedule.hops().begin(), schedule.hops().end()},
          std::move(pieces)};
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
