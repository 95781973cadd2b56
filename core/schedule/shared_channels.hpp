#pragma once
/// Parts of channels that messages claim where links differ in rate; the time of a schedule whose messages wait for
/// tokens instead of phases, and the order of transfers on channels that carry several messages at once.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/shared_channels.hpp"

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

/// The transfers of one phase by sender, as a plan file lists them; those of one sender in the order of the schedule.
/// In this order they take the places of a channel that carries several messages at once.
inline void order_by_sender(const Schedule& schedule, std::uint64_t phase, std::vector<std::uint32_t>& order) {
  const auto begin = schedule.phase_begin();
  order.resize(begin[phase + 1] - begin[phase]);
  std::iota(order.begin(), order.end(), static_cast<std::uint32_t>(begin[phase]));
  const auto src = [&](std::uint32_t transfer) { return schedule.hops()[transfer].src; };
  if (!std::ranges::is_sorted(order, {}, src)) std::ranges::stable_sort(order, {}, src);
}

/// Places of every channel for as many messages as it carries at once, `window` times; they are taken in turn. Each
/// keeps something of the message that took it last.
template <class T>
class ChannelPlaces {
 public:
  ChannelPlaces(const Network& network, std::uint32_t window, T nothing)
      : first_(network.channels() + std::size_t{1}, 0), next_(network.channels(), 0) {
    for (Channel channel = 0; channel < network.channels(); ++channel)
      first_[channel + 1] = first_[channel] + std::uint64_t{network.capacity(channel)} * window;
    kept_.assign(first_.back(), nothing);
  }

  /// The value that the place to be taken next keeps.
  [[nodiscard]] const T& next(Channel channel) const { return kept_[first_[channel] + next_[channel]]; }
  void take(Channel channel, T kept) {
    kept_[first_[channel] + next_[channel]] = kept;
    if (first_[channel] + ++next_[channel] == first_[channel + 1]) next_[channel] = 0;
  }

 private:
  std::vector<std::uint64_t> first_;
  std::vector<std::uint32_t> next_;
  std::vector<T> kept_;
};

/// Every sender's own order. Its previous send has started before a send starts; the send `window`
/// places earlier (and of an earlier phase: those of one phase go together) is over.
class OwnOrder {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  OwnOrder(const Schedule& schedule, std::uint32_t window)
      : window_(window), last_(schedule.ranks(), none), started_(schedule.size(), none), over_(schedule.size(), none) {}

  /// `first` is the first transfer of the phase.
  void push(Rank src, std::uint32_t transfer, std::uint32_t first) {
    std::uint32_t over = started_[transfer] = std::exchange(last_[src], transfer);
    while (over != none && over >= first) over = started_[over];
    for (std::uint32_t place = 1; over != none && place < window_; ++place) over = started_[over];
    over_[transfer] = over;
  }
  [[nodiscard]] std::uint32_t started(std::uint32_t transfer) const { return started_[transfer]; }
  [[nodiscard]] std::uint32_t over(std::uint32_t transfer) const { return over_[transfer]; }

 private:
  std::uint32_t window_;
  std::vector<std::uint32_t> last_, started_, over_;
};

/// Every transfer takes its share of each channel of its route from transfers that are over: by a clock of its own, in
/// which nothing but the wires takes time, from those that end first. What a transfer took it leaves to later ones, so
/// that at no time the shares in use are more than the channel, whatever the clock.
class ChannelShares {
 public:
  /// `shared` must outlive it.
  ChannelShares(const Network& network, const Schedule& schedule, const SharedChannels& shared, std::uint32_t window)
      : shared_(shared), end_(schedule.size(), 0), left_(network.channels()) {
    for (auto& left : left_) left.push_back({0, nobody, std::uint64_t{whole_channel} * window});
  }

  /// Calls `wait(earlier)` for each transfer that must be over before `transfer` may start, possibly several times for
  /// the same. `first`: the first transfer of its phase; it does not wait for those. `own`: its sender's last transfer
  /// that is over by then, or nobody.
  template <class Wait>
  void take(std::uint32_t transfer, std::uint32_t first, std::span<const Channel> route, std::uint32_t own,
            std::uint64_t bytes, Wait wait) {
    double start = own == nobody ? 0 : end_[own];
    mine_.clear();
    const double speed = shared_.claim(route, [&](Channel channel, std::uint32_t part) {
      mine_.push_back(part);
      std::uint64_t wanted = part;
      auto& left = left_[channel];
      auto from = left.begin(), kept = from;  // entries before `kept` have something left
      for (; wanted > 0 && from != left.end(); ++from) {
        if (from->transfer == nobody || from->transfer < first) {
          const std::uint64_t taken = std::min(wanted, from->amount);
          from->amount -= taken;
          wanted -= taken;
          start = std::max(start, from->end);
          if (from->transfer != nobody) wait(from->transfer);
        }
        if (from->amount > 0) *kept++ = *from;
      }
      left.erase(kept, from);
    });
    end_[transfer] = start + (bytes > 0 ? static_cast<double>(bytes) / speed : 0);
    for (std::size_t i = 0; i < route.size(); ++i) {
      auto& left = left_[route[i]];
      left.insert(std::ranges::upper_bound(left, end_[transfer], {}, &Left::end), {end_[transfer], transfer, mine_[i]});
    }
  }

  /// Seconds until the last transfer ends, by that clock.
  [[nodiscard]] double seconds() const { return end_.empty() ? 0 : *std::ranges::max_element(end_); }

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  /// Amount of a channel that later transfers may take from a transfer when it is over.
  struct Left {
    double end;
    std::uint32_t transfer;
    std::uint64_t amount;
  };

  const SharedChannels& shared_;
  std::vector<std::uint32_t> mine_;      ///< parts of the transfer's channels
  std::vector<double> end_;              ///< per transfer
  std::vector<std::vector<Left>> left_;  ///< per channel, by end
};

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
