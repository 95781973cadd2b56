#pragma once
/// Predicted time of a call with a schedule, from measured costs of the configuration.
#include <cstdint>

#include "core/choose/candidate.hpp"

namespace hocket {

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

}  // namespace hocket
