#include "core/choose/forecast.hpp"

#include <algorithm>
#include <bit>

#include "core/choose/exact.hpp"

namespace hocket {

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
