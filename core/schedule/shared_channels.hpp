#pragma once
/// Parts of channels that messages claim where links differ in rate.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket {

/// Ways in which a message claims a channel that is not filled.
enum class Claiming : std::uint8_t {
  alike,    ///< a k-th part, where k of its speed go beside each other
  exactly,  ///< the part that it keeps busy: others of any speed may have what is left
};

/// Calls its argument with the route and the bytes of every message.
using EachMessage = std::function<void(const std::function<void(std::span<const Channel>, std::uint64_t)>&)>;

/// Claims on channels that messages share: at least the share, and on most channels more, so that messages that go at
/// once do not slow each other down. Channels that would not be through in time that way are filled: all of them, or,
/// where that makes others late, one after the other, the worst first, as long as it helps.
class SharedChannels {
 public:
  /// The network must outlive it. Messages are gone through up to 27 times.
  SharedChannels(const Network& network, Claiming claiming, const EachMessage& each_message);
  /// All channels are filled: messages claim no more than their shares.
  explicit SharedChannels(const Network& network);

  /// True if in no phase messages claim more of a channel than there is.
  [[nodiscard]] bool suffice(const Schedule& schedule) const;

  /// Calls `take(channel, part of whole_channel)` along the route; returns the bytes a second that they leave a
  /// message.
  template <class Take>
  double claim(std::span<const Channel> route, Take take) const {
    const std::uint32_t own = slowest(route);
    const double speed = left_speed(route, own);
    for (const Channel channel : route) take(channel, part(channel, own, speed));
    return speed;
  }

  /// True, per channel, if messages take no more of it than their share.
  [[nodiscard]] const std::vector<char>& filled() const { return filled_; }

 private:
  /// The rate of the route's slowest channel, as an index into speeds_.
  [[nodiscard]] std::uint32_t slowest(std::span<const Channel> route) const {
    auto least = static_cast<std::uint32_t>(speeds_.size());
    for (const Channel channel : route) least = std::min(least, speed_of_[channel]);
    return least;
  }
  /// Speed that the filled channels leave to a message, bytes/s.
  [[nodiscard]] double left_speed(std::span<const Channel> route, std::uint32_t own) const {
    double speed = own < speeds_.size() ? speeds_[own] : std::numeric_limits<double>::infinity();
    for (const Channel channel : route)
      if (filled_[channel]) speed = std::min(speed, network_.rate(channel) / filling_of(channel, own));
    return speed;
  }
  [[nodiscard]] std::uint32_t part(Channel channel, std::uint32_t own, double speed) const {
    if (filled_[channel]) return whole_channel / filling_of(channel, own);
    if (speed < speeds_[own] || unfilled_.empty()) return unfilled(channel, own, speed);
    return unfilled_[entry(channel, own)];
  }
  [[nodiscard]] std::size_t entry(Channel channel, std::uint32_t own) const {
    return std::size_t{speed_of_[channel]} * speeds_.size() + own;
  }
  [[nodiscard]] std::uint32_t filling_of(Channel channel, std::uint32_t own) const {
    return filling_.empty() ? filling(network_, channel, speeds_[own]) : filling_[entry(channel, own)];
  }

  void tabulate();
  [[nodiscard]] std::vector<double> work(const EachMessage& each_message) const;
  void add_work(std::span<const Channel> route, double bytes, std::vector<double>& seconds) const;
  [[nodiscard]] double fill_while_it_helps(const EachMessage& each_message, std::vector<double> seconds);
  [[nodiscard]] std::uint32_t unfilled(Channel channel, std::uint32_t own, double speed) const;

  const Network& network_;
  Claiming claiming_;
  std::vector<double> speeds_;           ///< all rates, ascending
  std::vector<std::uint32_t> speed_of_;  ///< per channel: index of its rate
  std::vector<std::uint32_t> filling_;   ///< [rate · speeds + speed of a message]; empty where rates are too many
  std::vector<std::uint32_t> unfilled_;  ///< indexed alike: the part claimed if nothing slows the message down
  std::vector<char> filled_;             ///< per channel
  double bound_ = 0;
};

/// Both ways to claim, for the same messages.
class ChannelSharing {
 public:
  ChannelSharing(const Network& network, const EachMessage& each_message)
      : alike_(network, Claiming::alike, each_message), exactly_(network, Claiming::exactly, each_message) {}
  [[nodiscard]] const SharedChannels& by(Claiming claiming) const {
    return claiming == Claiming::alike ? alike_ : exactly_;
  }

 private:
  SharedChannels alike_, exactly_;
};

/// The messages of an all-to-all of as many bytes each. The network must outlive it.
[[nodiscard]] EachMessage each_pair(const Network& network, std::uint64_t bytes);

/// The transfers of a schedule, which must outlive it, as the network does.
[[nodiscard]] EachMessage each_transfer(const Network& network, const Schedule& schedule);

}  // namespace hocket
