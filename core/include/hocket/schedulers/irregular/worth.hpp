#pragma once
/// Which irregular exchanges gain by a schedule.
#include <cstdint>

#include "hocket/demand/demand.hpp"
#include "hocket/network/network.hpp"

namespace hocket {

/// From where on a schedule is worth its tokens: messages are large enough, and so many of them share a
/// wire, or make for one host, that posted all at once they would collide. Messages of different sizes
/// count as (sum of sizes)² / sum of squares.
struct WorthLimits {
  std::uint64_t message_bytes = 16384;  ///< of a message, on average
  std::uint64_t flows = 96;             ///< messages on the most loaded channel, per unit of its capacity
  std::uint64_t senders = 16;           ///< messages from other hosts into the host that gets most
};

/// True when the messages are large enough and one of the other limits is reached. Where few share the
/// bottleneck, posting everything at once comes close to the bound by itself.
[[nodiscard]] bool worth_scheduling(const Network& network, const Demand& demand, const WorthLimits& limits = {});

}  // namespace hocket
