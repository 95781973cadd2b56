#include "hocket/choose/forecast.hpp"

#include <algorithm>

namespace hocket {

double forecast(const ScheduleCost& schedule, const PlaceCost& place) {
  constexpr double meeting = 0.02;  // of the bytes' time, for each further message in flight
  constexpr double in_order = 2;    // messages that a chain has under way at least where no token holds them back
  double wire = schedule.wire_seconds;
  if (place.native_seconds > 0) wire = std::min(wire, place.native_seconds);
  const double window = std::max<double>(schedule.window, schedule.ordered ? 1 : in_order);
  const double steps = static_cast<double>(schedule.phases) * place.step_seconds / window;
  return steps + wire * (1 + meeting * (window - 1));
}

}  // namespace hocket
