#pragma once
/// Part of a channel that a message takes where links differ in rate.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "core/network/network.hpp"

namespace hocket {

/// A channel in parts: the least common multiple of 1 … 16, so that k messages of a k-th part fit exactly.
inline constexpr std::uint32_t whole_channel = 720720;

/// Bytes a second of a message alone on its route: the slowest rate. Infinite for an empty route.
[[nodiscard]] inline double own_speed(const Network& network, std::span<const Channel> route) {
  double speed = std::numeric_limits<double>::infinity();
  for (const Channel channel : route) speed = std::min(speed, network.rate(channel));
  return speed;
}

/// Messages of that speed (bytes/s) that fill the channel: one less leaves some of it idle.
[[nodiscard]] inline std::uint32_t filling(const Network& network, Channel channel, double speed) {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(network.rate(channel) / speed * (1 - 1e-9)), 1.0, 7e5));
}

/// Units of whole_channel that a message of that speed takes: a k-th part if k of its like fill the channel. Messages
/// whose parts make up no more than the whole may go at once; together they are at most twice as fast as the channel.
[[nodiscard]] inline std::uint32_t share(const Network& network, Channel channel, double speed) {
  return whole_channel / filling(network, channel, speed);
}

}  // namespace hocket
