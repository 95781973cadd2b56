#pragma once
/// Which parts of its channels a message claims where links differ in rate.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hocket/network/share.hpp"

namespace hocket {

/// What a message claims of a channel that is not filled.
enum class Claiming : std::uint8_t {
  alike,    ///< a k-th part, where k of its speed go beside each other
  exactly,  ///< the part that it keeps busy: others of any speed may have what is left
};

/// How schedules use channels that messages share: at least the share, and on most channels more, so that messages that
/// go at once do not slow each other down. Channels that would not be through in time that way are filled: all of them,
/// or, where that makes others late, one after the other, the worst first, as long as it helps. `each_message(visit)`
/// calls visit(route, bytes) for all messages.
class SharedChannels {
 public:
  template <class EachMessage>
  SharedChannels(const Network& network, Claiming claiming, EachMessage each_message)
      : network_(network), claiming_(claiming), filled_(network.channels(), 0) {
    bound_ = longest(work(each_message, true));
    const std::vector<double> apart = work(each_message, false);
    for (Channel channel = 0; channel < network.channels(); ++channel)
      filled_[channel] = apart[channel] > bound_ * (1 + 1e-9);
    const std::vector<char> all = filled_;
    const double with_all = longest(work(each_message, false));
    filled_.assign(network.channels(), 0);
    if (with_all <= almost * fill_while_it_helps(each_message, apart)) filled_ = all;
  }

  /// Calls `take(channel, part of whole_channel)` along the route; returns the bytes a second that they leave a
  /// message.
  template <class Take>
  double claim(std::span<const Channel> route, Take take) const {
    const double alone = own_speed(network_, route);
    double speed = alone;
    for (const Channel channel : route)
      if (filled_[channel]) speed = std::min(speed, network_.rate(channel) / filling(network_, channel, alone));
    for (const Channel channel : route) {
      const std::uint32_t least = whole_channel / filling(network_, channel, alone);
      take(channel, filled_[channel] ? least : std::max(least, beside(channel, speed)));
    }
    return speed;
  }

 private:
  /// Times the busiest channel's work: rather all than few are filled. What is claimed is more than what it takes, as
  /// messages go faster wherever there is room.
  static constexpr double almost = 1.12;
  static constexpr int most_filled = 24;  ///< channels tried

  /// Per channel: seconds that its messages claim it, or those of its bytes at its full rate.
  template <class EachMessage>
  std::vector<double> work(EachMessage each_message, bool at_full_rate) const {
    std::vector<double> seconds(network_.channels(), 0);
    std::vector<std::uint32_t> parts;
    each_message([&](std::span<const Channel> route, std::uint64_t bytes) {
      parts.clear();
      const double speed = claim(route, [&](Channel, std::uint32_t part) { parts.push_back(part); });
      for (std::size_t i = 0; i < route.size(); ++i)
        seconds[route[i]] += static_cast<double>(bytes) *
                             (at_full_rate ? 1 / network_.rate(route[i]) : parts[i] / (speed * whole_channel));
    });
    return seconds;
  }

  static double longest(const std::vector<double>& seconds) {
    return seconds.empty() ? 0 : *std::ranges::max_element(seconds);
  }

  /// Returns the seconds of the busiest channel.
  template <class EachMessage>
  double fill_while_it_helps(EachMessage each_message, std::vector<double> seconds) {
    std::vector<char> kept = filled_, tried = filled_;
    double least = longest(seconds);
    for (int i = 0; i < most_filled && least > bound_ * (1 + 1e-9); ++i) {
      double most = bound_;
      Channel worst = network_.channels();
      for (Channel channel = 0; channel < network_.channels(); ++channel)
        if (!tried[channel] && seconds[channel] > most) most = seconds[channel], worst = channel;
      if (worst == network_.channels()) break;
      filled_ = kept;
      tried[worst] = filled_[worst] = 1;
      std::vector<double> then = work(each_message, false);
      if (const double time = longest(then); time < least) {
        least = time;
        kept = filled_;
        seconds = std::move(then);
      }
    }
    filled_ = std::move(kept);
    return least;
  }

  /// The part for a message that nobody slows down.
  [[nodiscard]] std::uint32_t beside(Channel channel, double speed) const {
    const double like_it = network_.rate(channel) / speed * (1 + 1e-9);  // go beside each other
    if (claiming_ == Claiming::exactly && like_it > 1)
      return static_cast<std::uint32_t>(std::ceil(whole_channel / like_it));
    return whole_channel / static_cast<std::uint32_t>(std::clamp(std::floor(like_it), 1.0, 7e5));
  }

  const Network& network_;
  Claiming claiming_;
  std::vector<char> filled_;  ///< per channel
  double bound_ = 0;
};

}  // namespace hocket
