#pragma once
/// The time of a schedule on a network whose routers forward packets: finite buffers, head-of-line
/// blocking, arbitration. Independent of the flow simulator (simulate.hpp), which shares channels
/// as fluids do.
#include "core/model/simulate.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"
#include "parameters.hpp"

namespace hocket {

/// Simulates the schedule.
///
/// - A rank sends its transfers in schedule order, one after the other: `alpha`, then its packets
///   through the injection port. `free`: nothing else holds it back; `barrier`: a phase begins
///   `barrier` after the last byte of the one before has arrived. A piece is forwarded when it has
///   arrived. Other flow controls are refused.
/// - A packet goes on as soon as its head has come (cut-through), if the channel is free and the
///   buffer behind it has room; those behind it in its buffer wait (head-of-line blocking). From a
///   slow channel to a fast one it starts late enough to go through without a gap.
/// - Ranks on one host copy through memory and use neither ports nor channels.
///
/// Alone on its route a message of w bytes on the wire takes per-message cost + Σ(latency + hop) + w / (slowest
/// rate on the way), whatever the train. `Simulation::start` is when its first packet leaves the
/// sender. Times are multiples of a tick of a millionth of a packet's time on the fastest channel.
///
/// Throws InputError for schedules or parameters that do not fit, and when packets block each other
/// for ever (rings without virtual channels, graphs with cyclic routes).
[[nodiscard]] Simulation simulate_wormhole(const Network& network, const Schedule& schedule, FlowControl flow,
                                           const WormholeParameters& parameters);

}  // namespace hocket
