#include "core/choose/forecast.hpp"

#include <algorithm>

namespace hocket {

double forecast(const ScheduleCost& schedule, const PlaceCost& place) {
  constexpr double meeting = 0.02;          // of the bytes' time, for each further message in flight
  constexpr double messages_of_a_step = 4;  // that a rank sends and receives
  double wire = schedule.wire_seconds;
  if (place.native_seconds > 0) wire = std::min(wire, place.native_seconds);
  const auto phases = static_cast<double>(schedule.phases);
  const double step = place.step_seconds * (schedule.rendezvous ? 1.5 : 1);
  const double handling = phases * static_cast<double>(schedule.segments - 1) * place.step_seconds / messages_of_a_step;
  // Assumed: ranks of a host that copy at the same time, and wait for each other before and after the leader's part.
  constexpr double copy_rate = 2e9;  // bytes a second
  const double within_host =
      schedule.copied_bytes > 0 ? 2 * place.step_seconds + static_cast<double>(schedule.copied_bytes) / copy_rate : 0;
  return within_host + phases * step / schedule.window +
         std::max(handling, wire * (1 + meeting * (schedule.window - 1)));
}

}  // namespace hocket
