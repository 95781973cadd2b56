#pragma once
/// The time of a schedule whose messages wait for tokens instead of phases.
#include "hocket/network/network.hpp"
#include "hocket/schedule/schedule.hpp"

namespace hocket {

/// Seconds until the last transfer is over if each begins as soon as its sender's earlier phases are, and on
/// every channel of its route those are that make room for it (derive_waits with window 1); without startups and
/// latencies, at the rate of the slowest channel, or of its share. A quick estimate: simulate() shares channels.
/// Linear in transfers × route length.
[[nodiscard]] double token_seconds(const Network& network, const Schedule& schedule);

/// Whether by that estimate a schedule is over earlier if messages take shares of channels that differ in rate, instead
/// of places as wide as the fastest host is fast. Never where links are equal: there both are the same.
[[nodiscard]] bool shares_are_faster(const Network& network, const Schedule& schedule);

}  // namespace hocket
