#pragma once
/// Predicted time of a call with a schedule, from measured costs of the configuration.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/choose/candidate.hpp"
#include "core/limits.hpp"
#include "core/model/simulate.hpp"

namespace hocket {

/// Messages of schedules that are simulated while a program waits: 1 ms each.
inline constexpr std::uint64_t most_simulated_messages = 2'000;

/// Costs of a place where one step, a message without bytes and the token that answers it, takes `step_seconds`: half
/// of it the processors' at the ends of the message, a quarter the token's way, an eighth at each of its ends. Flows
/// that share a wire are taken to leave of it what `network`'s cost profile says. `overhead`: bytes on the wire for
/// each of a message.
[[nodiscard]] ModelParameters costs_of_steps(const Network& network, double step_seconds, double overhead);

/// The same transfers, of a schedule of whole messages, with sizes as the messages of an irregular call may have them,
/// on average as large as its own: a message for each 4^sparse pairs of ranks, uniform between half and one and a half
/// times their mean, exponential (`skewed` 1), or by Pareto's law with exponent 1.5 (2).
[[nodiscard]] Schedule with_drawn_sizes(const Schedule& schedule, unsigned sparse, unsigned skewed);

/// Seconds; none where the library carries the messages, or the simulation would take more than 5 million steps.
[[nodiscard]] std::optional<double> simulated_seconds(const Network& network, const Schedule& schedule,
                                                      const Candidate& candidate, const ModelParameters& costs);

/// A schedule, for messages of a size.
struct ScheduleCost {
  std::uint64_t phases = 0;
  double wire_seconds = 0;     ///< its bytes on the busiest wire: no order of messages is faster
  std::uint32_t window = 1;    ///< messages of a rank in flight, at least 1
  std::uint64_t segments = 1;  ///< segments per message, at least 1
  bool rendezvous = false;     ///< the MPI library sends them when the receiver has answered
};

/// Measured costs of a configuration (network, MPI library, distribution of ranks).
struct PlaceCost {
  double step_seconds = 0;    ///< a message without bytes and the token that answers it
  double native_seconds = 0;  ///< the library's own call, measured; 0: not yet
};

/// Seconds. Steps of a chain of messages follow each other, as many at once as the window has room for; the more of
/// them, the more messages of different phases meet on a wire. Wires are taken to be at least as fast as the library's
/// call shows: networks are often described as slower than they are.
[[nodiscard]] double forecast(const ScheduleCost& schedule, const PlaceCost& place);

/// Seconds of an exchange that takes `seconds` where messages share wires without loss, and the library's own, in which
/// all messages go at once, `native_seconds` (0: not known; taken to be 1.6 times as long at least): the more messages
/// of a rank are on their way, the more they are in each other's way, too. Fitted to calls on slow Ethernet
/// (docs/decisions/0066).
[[nodiscard]] double in_a_crowd(double seconds, double native_seconds, const Candidate& candidate);

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

/// Seconds that opening connections to all other ranks takes, at most.
[[nodiscard]] constexpr double opening_seconds(int ranks) { return 10e-3 * (ranks - 1); }

/// True if a call may have opened connections, so that it says nothing of later ones. `wire_seconds`: the time that a
/// host's link needs for the bytes that one rank sends.
[[nodiscard]] constexpr bool may_open_connections(double seconds, int ranks, double wire_seconds) {
  constexpr double over_the_wires = 16;  // times as long: no order of messages is as slow as that
  return seconds < opening_seconds(ranks) && seconds > over_the_wires * wire_seconds;
}

}  // namespace hocket
