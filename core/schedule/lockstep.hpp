#pragma once
/// The time of a schedule whose phases follow each other.
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket {

/// Seconds if every phase begins when all of the one before is over, without latencies: a phase
/// lasts until its busiest channel has carried its bytes and its slowest message is through, after the per-message
/// costs (seconds each) of the rank that sends most. Linear in transfers × route length.
[[nodiscard]] double lockstep_seconds(const Network& network, const Schedule& schedule, double alpha = 0);

}  // namespace hocket
