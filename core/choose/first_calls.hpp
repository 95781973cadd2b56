#pragma once
/// What decides, before anything is planned, whether the library's calls are worth finding out about.
#include <cstdint>

#include "core/choose/simulated.hpp"
#include "core/limits.hpp"

namespace hocket {

/// Seconds, on the slow side: to draw up a schedule, its waits and a private communicator, and to simulate it with
/// every window.
[[nodiscard]] constexpr double planning_seconds(int ranks) {
  const bool by_row = ranks > static_cast<int>(limits::most_ranks_planned_for_run);  // in closed form, or not at all
  const bool simulated =
      static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(ranks) <= most_simulated_messages;
  return 2e-3 + (by_row ? 1e-5 : (simulated ? 1e-5 : 4e-7) * ranks) * ranks;
}

/// Calls as short as an agreement that planning takes. Where ranks outnumber cores that is most of it.
inline constexpr double agreements_of_planning = 16;

/// The same where agreeing on something takes `agreement` seconds.
[[nodiscard]] constexpr double setup_seconds(int ranks, double agreement) {
  return planning_seconds(ranks) + agreements_of_planning * agreement;
}

/// Whether a call may have opened connections, so that it says nothing of later ones. `wire_seconds`: what the link of
/// a host needs for what one rank sends.
[[nodiscard]] constexpr bool may_open_connections(double seconds, int ranks, double wire_seconds) {
  constexpr double opening = 10e-3;      // for each other rank, at most
  constexpr double over_the_wires = 16;  // times as long: no order of messages is as slow as that
  return seconds < opening * (ranks - 1) && seconds > over_the_wires * wire_seconds;
}

}  // namespace hocket
