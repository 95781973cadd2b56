#pragma once
/// What part of a channel a message takes where links differ in rate.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hocket/network/network.hpp"

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

/// Of whole_channel, what a message of that speed takes: a k-th part if k of its like fill the channel. Messages whose
/// parts make up no more than the whole may go at once; together they are at most twice as fast as the channel.
[[nodiscard]] inline std::uint32_t share(const Network& network, Channel channel, double speed) {
  return whole_channel / filling(network, channel, speed);
}

/// How schedules use channels that messages share: at least the share, and where there is time more, so that messages
/// that go at once do not slow each other down. Needs all messages beforehand.
class SharedChannels {
 public:
  explicit SharedChannels(const Network& network)
      : network_(network), work_(network.channels(), 0), apart_(network.channels(), 0) {}

  void count(std::span<const Channel> route, std::uint64_t bytes) {
    const double alone = own_speed(network_, route);
    for (const Channel channel : route) {
      const double seconds = static_cast<double>(bytes) / network_.rate(channel);
      work_[channel] += seconds;
      apart_[channel] += static_cast<double>(bytes) / alone / beside(channel, alone);
      longest_ = std::max(longest_, work_[channel]);
    }
  }

  /// Calls `take(channel, part of whole_channel)` along the route; returns the bytes a second that they leave a message.
  template <class Take>
  double claim(std::span<const Channel> route, Take take) const {
    const double alone = own_speed(network_, route);
    double speed = alone;
    for (const Channel channel : route)
      if (tight(channel)) speed = std::min(speed, network_.rate(channel) / filling(network_, channel, alone));
    for (const Channel channel : route) {
      std::uint32_t k = filling(network_, channel, alone);
      if (!tight(channel)) k = std::min(k, beside(channel, speed));
      take(channel, whole_channel / k);
    }
    return speed;
  }

 private:
  static constexpr double enough_time = 1.0001;

  /// Messages of that speed that go beside each other at full speed, at least 1.
  [[nodiscard]] std::uint32_t beside(Channel channel, double speed) const {
    return static_cast<std::uint32_t>(std::clamp(std::floor(network_.rate(channel) / speed * (1 + 1e-9)), 1.0, 7e5));
  }
  /// Without slowing messages down it would not be through in time.
  [[nodiscard]] bool tight(Channel channel) const { return apart_[channel] > enough_time * longest_; }

  const Network& network_;
  std::vector<double> work_, apart_;  ///< per channel: seconds at its full rate, and without slowing messages down
  double longest_ = 0;                ///< of work_
};

}  // namespace hocket
