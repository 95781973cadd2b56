#include "core/algorithms/all_to_all/relay_slots.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <functional>
#include <queue>
#include <random>
#include <utility>

#include "core/progress/progress.hpp"

namespace hocket::algorithms {
namespace {

constexpr int most_lists = 120;
constexpr double shaking = 2;  // slots by which urgency is changed at random

/// Makes lists. A step is the crossing of one edge by one part.
class Lists {
 public:
  Lists(const RelayGraph& graph, const RelayWays& ways)
      : graph_(graph),
        ways_(ways),
        part_of_(ways.edges.size()),
        slot_(ways.edges.size()),
        waiting_(graph.edges.size()) {
    for (std::uint32_t part = 0; part < ways.parts(); ++part)
      for (std::uint32_t step = ways.begin[part]; step < ways.begin[part + 1]; ++step) part_of_[step] = part;
  }

  /// Slots needed; of each step then in slots(). The least urgent number goes first. `back`: every way from its end.
  std::uint64_t make(const std::vector<double>& urgency, bool back) {
    for (std::uint32_t part = 0; part < ways_.parts(); ++part)
      if (ways_.begin[part] < ways_.begin[part + 1])
        wait(back ? ways_.begin[part + 1] - 1 : ways_.begin[part], urgency);
    left_.assign(graph_.room.size(), 0);
    for (const std::uint32_t edge : ways_.edges)
      for (const Channel channel : graph_.edges[edge].channels) left_[channel] += 1.0 / graph_.room[channel];
    std::size_t left = ways_.edges.size();
    std::uint32_t slot = 0;
    for (; left > 0; ++slot) {
      order_.clear();
      for (std::uint32_t edge = 0; edge < waiting_.size(); ++edge)
        if (!waiting_[edge].empty()) order_.push_back({-busiest(edge), waiting_[edge].top().first, edge});
      std::ranges::sort(order_);
      used_.assign(graph_.room.size(), 0);
      next_.clear();
      for (const auto& [busy, first, edge] : order_) {
        const RelayEdge& by = graph_.edges[edge];
        if (std::ranges::any_of(by.channels, [&](Channel channel) { return used_[channel] != 0; })) continue;
        for (const Channel channel : by.channels) used_[channel] = 1;
        for (std::uint32_t parts = 0; parts < by.parts && !waiting_[edge].empty(); ++parts, --left) {
          const std::uint32_t step = waiting_[edge].top().second;
          waiting_[edge].pop();
          slot_[step] = slot;
          for (const Channel channel : by.channels) left_[channel] -= 1.0 / graph_.room[channel];
          const std::uint32_t part = part_of_[step];
          if (back ? step > ways_.begin[part] : step + 1 < ways_.begin[part + 1])
            next_.push_back(back ? step - 1 : step + 1);
        }
      }
      for (const std::uint32_t step : next_) wait(step, urgency);
    }
    return slot;
  }

  [[nodiscard]] const std::vector<std::uint32_t>& slots() const { return slot_; }

 private:
  using Waiting = std::pair<double, std::uint32_t>;  ///< urgency and step

  /// Edges whose channels have most to carry come first, as those of an open shop.
  struct Turn {
    double busiest, urgency;
    std::uint32_t edge;
    auto operator<=>(const Turn&) const = default;
  };

  [[nodiscard]] double busiest(std::uint32_t edge) const {
    double slots = 0;
    for (const Channel channel : graph_.edges[edge].channels) slots = std::max(slots, std::round(left_[channel] * 16));
    return slots;
  }

  void wait(std::uint32_t step, const std::vector<double>& urgency) {
    waiting_[ways_.edges[step]].emplace(urgency[step], step);
  }

  const RelayGraph& graph_;
  const RelayWays& ways_;
  std::vector<std::uint32_t> part_of_, slot_;                                                ///< per step
  std::vector<std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>> waiting_;  ///< per edge
  std::vector<double> left_;  ///< per channel: slots of parts that have still to cross it
  std::vector<Turn> order_;
  std::vector<char> used_;  ///< per channel
  std::vector<std::uint32_t> next_;
};

}  // namespace

RelaySlots find_relay_slots(const RelayGraph& graph, const RelayWays& ways, std::uint64_t enough, std::uint64_t seed) {
  Lists lists(graph, ways);
  std::mt19937_64 random(seed);
  const auto part_of_one = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<double> urgency(ways.edges.size());
  for (std::uint32_t part = 0; part < ways.parts(); ++part)  // those that have the longest way to go
    for (std::uint32_t step = ways.begin[part]; step < ways.begin[part + 1]; ++step)
      urgency[step] = -static_cast<double>(ways.begin[part + 1] - step);
  RelaySlots best{~std::uint64_t{0}, {}};
  Steps steps("slots of parts that are passed on", most_lists);
  for (int made = 0; made < most_lists && best.slots > enough; ++made, steps.tick()) {
    const bool back = made % 2 != 0;
    const std::uint64_t slots = lists.make(urgency, back);
    if (slots < best.slots) {
      best = {slots, lists.slots()};
      if (back)
        for (std::uint32_t& slot : best.slot_of) slot = static_cast<std::uint32_t>(slots) - 1 - slot;
    }
    for (std::size_t step = 0; step < urgency.size(); ++step)
      urgency[step] = -static_cast<double>(lists.slots()[step]) + (made < 8 ? 0 : shaking * part_of_one());
  }
  return best;
}

}  // namespace hocket::algorithms
