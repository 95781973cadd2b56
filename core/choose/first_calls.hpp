#pragma once
/// Criteria, before anything is planned, of whether it is worth finding out about the library's calls.
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

/// Seconds to set a schedule up, where agreeing on something takes `agreement` seconds.
[[nodiscard]] constexpr double setup_seconds(int ranks, double agreement) {
  return planning_seconds(ranks) + agreements_of_planning * agreement;
}

/// True if a call may have opened connections, so that it says nothing of later ones. `wire_seconds`: the time that a
/// host's link needs for the bytes that one rank sends.
[[nodiscard]] constexpr bool may_open_connections(double seconds, int ranks, double wire_seconds) {
  constexpr double opening = 10e-3;      // for each other rank, at most
  constexpr double over_the_wires = 16;  // times as long: no order of messages is as slow as that
  return seconds < opening * (ranks - 1) && seconds > over_the_wires * wire_seconds;
}

}  // namespace hocket
