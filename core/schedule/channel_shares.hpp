#pragma once
/// Order of transfers on channels that carry several messages of different speeds at once.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/schedule.hpp"
#include "core/schedule/shared_channels.hpp"

namespace hocket {

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

}  // namespace hocket
