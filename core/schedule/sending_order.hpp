#pragma once
/// Order in which transfers take what they need: within a phase, and of one sender.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/schedule/schedule.hpp"

namespace hocket {

/// The transfers of one phase by sender, as a plan file lists them; those of one sender in the order of the schedule.
/// In this order they take the places of a channel that carries several messages at once.
inline void order_by_sender(const Schedule& schedule, std::uint64_t phase, std::vector<std::uint32_t>& order) {
  const auto begin = schedule.phase_begin();
  order.resize(begin[phase + 1] - begin[phase]);
  std::iota(order.begin(), order.end(), static_cast<std::uint32_t>(begin[phase]));
  const auto src = [&](std::uint32_t transfer) { return schedule.hops()[transfer].src; };
  if (!std::ranges::is_sorted(order, {}, src)) std::ranges::stable_sort(order, {}, src);
}

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

}  // namespace hocket
