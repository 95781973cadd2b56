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

/// How schedules use channels that messages share: at least the share, and on most channels more, so that messages that
/// go at once do not slow each other down. Channels that would not be through in time that way are filled, one after
/// the other, the worst first, as long as that helps. `each_message(visit)` calls visit(route, bytes) for all messages.
class SharedChannels {
 public:
  template <class EachMessage>
  SharedChannels(const Network& network, EachMessage each_message)
      : network_(network), filled_(network.channels(), 0) {
    std::vector<char> kept = filled_;
    std::vector<char> tried = filled_;
    double least = std::numeric_limits<double>::infinity();
    std::vector<double> work;
    for (int i = 0; i < most_filled; ++i) {
      work.assign(network.channels(), 0);
      double ideal = 0;
      std::vector<double> at_best(i == 0 ? network.channels() : 0, 0);
      each_message([&](std::span<const Channel> route, std::uint64_t bytes) {
        std::size_t first = mine_.size();
        mine_.clear();
        first = 0;
        const double speed = claim(route, [&](Channel, std::uint32_t part) { mine_.push_back(part); });
        for (const Channel channel : route) {
          work[channel] += static_cast<double>(bytes) / speed * mine_[first++] / whole_channel;
          if (i == 0) at_best[channel] += static_cast<double>(bytes) / network_.rate(channel);
        }
      });
      if (i == 0)
        for (const double seconds : at_best) bound_ = std::max(bound_, seconds);
      (void)ideal;
      Channel worst = 0;
      double longest = 0;
      for (Channel channel = 0; channel < network.channels(); ++channel)
        if (work[channel] > longest) longest = work[channel], worst = channel;
      if (longest < least) least = longest, kept = filled_;
      if (longest <= bound_ * (1 + 1e-9)) break;
      double most = 0;
      worst = network.channels();
      for (Channel channel = 0; channel < network.channels(); ++channel)
        if (!tried[channel] && work[channel] > std::max(most, bound_)) most = work[channel], worst = channel;
      if (worst == network.channels()) break;
      filled_ = kept;
      tried[worst] = filled_[worst] = 1;
    }
    filled_ = kept;
  }

  /// Calls `take(channel, part of whole_channel)` along the route; returns the bytes a second that they leave a message.
  template <class Take>
  double claim(std::span<const Channel> route, Take take) const {
    const double alone = own_speed(network_, route);
    double speed = alone;
    for (const Channel channel : route)
      if (filled_[channel]) speed = std::min(speed, network_.rate(channel) / filling(network_, channel, alone));
    for (const Channel channel : route) {
      std::uint32_t k = filling(network_, channel, alone);
      if (!filled_[channel]) k = std::min(k, beside(channel, speed));
      take(channel, whole_channel / k);
    }
    return speed;
  }

 private:
  static constexpr int most_filled = 24;  ///< channels tried

  /// Messages of that speed that go beside each other at full speed, at least 1.
  [[nodiscard]] std::uint32_t beside(Channel channel, double speed) const {
    return static_cast<std::uint32_t>(std::clamp(std::floor(network_.rate(channel) / speed * (1 + 1e-9)), 1.0, 7e5));
  }

  const Network& network_;
  std::vector<char> filled_;  ///< per channel
  std::vector<std::uint32_t> mine_;
  double bound_ = 0;
};

}  // namespace hocket
