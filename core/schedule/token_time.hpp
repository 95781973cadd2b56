#pragma once
/// The time of a schedule whose messages wait for tokens instead of phases.
#include <optional>

#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/shared_channels.hpp"

namespace hocket {

/// Seconds if every phase begins when all of the one before is over, without latencies: a phase
/// lasts until its busiest channel has carried its bytes and its slowest message is through, after the per-message
/// costs (seconds each) of the rank that sends most. Linear in transfers × route length.
[[nodiscard]] double lockstep_seconds(const Network& network, const Schedule& schedule, double alpha = 0);

/// Seconds until the last transfer is over if each begins as soon as its sender's earlier phases are, and on
/// every channel of its route those are that make room for it (derive_waits with window 1); without per-message costs
/// and latencies, at the rate of the slowest channel, or of its share. A quick estimate: simulate() shares channels.
/// Linear in transfers × route length.
[[nodiscard]] double token_seconds(const Network& network, const Schedule& schedule);
/// Overload for known shares of the schedule's messages; links differ in rate.
[[nodiscard]] double token_seconds(const Network& network, const Schedule& schedule, const ChannelSharing& sharing);

/// The way of claiming channels with which the schedule is over earlier, by that estimate, than with places as wide as
/// the fastest host is fast; none if neither is faster. `sharing`: for the schedule's messages.
[[nodiscard]] std::optional<Claiming> faster_claiming(const Network& network, const Schedule& schedule,
                                                      const ChannelSharing& sharing);

}  // namespace hocket
