#include "hocket/choose/forecast.hpp"

#include <algorithm>

namespace hocket {

double forecast(const ScheduleCost& schedule, const PlaceCost& place) {
  constexpr double meeting = 0.02;  // of the bytes' time, for each further message in flight
  double wire = schedule.wire_seconds;
  if (place.native_seconds > 0) wire = std::min(wire, place.native_seconds);
  const double steps = static_cast<double>(schedule.phases) * place.step_seconds / schedule.window;
  return steps + wire * (1 + meeting * (schedule.window - 1));
}

}  // namespace hocket
