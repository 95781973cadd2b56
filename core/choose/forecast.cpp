#include "core/choose/forecast.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <utility>

#include "core/choose/chooser.hpp"
#include "core/model/fair_share.hpp"
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

double forecast(const ScheduleCost& schedule, const PlaceCost& place) {
  constexpr double meeting = 0.02;          // share of the bytes' time lost to each further message in flight
  constexpr double messages_of_a_step = 4;  // messages that a rank sends and receives in a step
  double wire = schedule.wire_seconds;
  if (place.native_seconds > 0) wire = std::min(wire, place.native_seconds);
  const auto phases = static_cast<double>(schedule.phases);
  const double step = place.step_seconds * (schedule.rendezvous ? 1.5 : 1);
  const double handling = phases * static_cast<double>(schedule.segments - 1) * place.step_seconds / messages_of_a_step;
  return phases * step / schedule.window + std::max(handling, wire * (1 + meeting * (schedule.window - 1)));
}

double in_a_crowd(double seconds, double native_seconds, const Candidate& candidate) {
  if (candidate.window == 0) return seconds;
  constexpr double doublings_to_a_crowd = 6, usual_crowd = 1.6;
  const int doublings = std::bit_width(candidate.window) - 1 + (candidate.free ? 1 : 0);
  const double share = std::min(doublings / doublings_to_a_crowd, 1.0);
  return seconds * exact_exp(share * exact_log(std::max(native_seconds / seconds, usual_crowd)));
}

}  // namespace hocket
