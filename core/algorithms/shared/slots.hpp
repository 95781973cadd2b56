#pragma once
/// Sending parts of messages down trees of hosts, slot by slot.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/algorithms/registry.hpp"
#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::algorithms {

/// Routes between hosts, which are numbered by their places in network.hosts(). What passes a host might as well be
/// passed on by it, which needs it too: such routes are left out, unless not all hosts can be reached without them.
class HostRoutes {
 public:
  explicit HostRoutes(const Network& network);

  [[nodiscard]] std::uint32_t hosts() const { return hosts_; }
  /// Empty for a route that is left out.
  [[nodiscard]] std::span<const Channel> between(std::uint32_t from, std::uint32_t to) const {
    return routes_.of(std::size_t{from} * hosts_ + to);
  }
  /// The hosts that have a route to this one.
  [[nodiscard]] std::span<const std::uint32_t> sources(std::uint32_t to) const { return sources_[to]; }
  /// Channels of all routes together.
  [[nodiscard]] std::size_t length() const { return routes_.items.size(); }

 private:
  void find(const Network& network, bool all);
  [[nodiscard]] bool reach_all() const;

  std::uint32_t hosts_;
  std::vector<std::vector<std::uint32_t>> sources_;
  Lists<Channel> routes_;
};

/// Parts, a few, that what goes at the slowest speed carries in a slot such that whole numbers of them nearly fill the
/// slots of all others.
template <class Senders, class Speed>
[[nodiscard]] std::uint32_t parts_of_slowest(const Senders& senders, Speed speed) {
  constexpr std::uint32_t most_parts = 8;
  constexpr double small_gap = 0.01;  // of a slot that whole parts leave empty
  const double slowest = std::invoke(speed, *std::ranges::min_element(senders, {}, speed));
  std::pair<double, std::uint32_t> best{2, 1};  // gap and parts
  for (std::uint32_t parts = 1; parts <= most_parts && best.first > small_gap; ++parts) {
    double gap = 0;
    for (const auto& sender : senders) {
      const double room = std::invoke(speed, sender) / slowest * parts;
      gap = std::max(gap, 1 - std::floor(room * (1 + 1e-9)) / room);
    }
    if (gap < best.first) best = {gap, parts};
  }
  return best.second;
}

/// A tree along which bytes [begin, end) of a rank's message go: a contribution to all hosts, or a message to one rank.
struct HostTree {
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  Rank origin = 0, target = everyone;
  std::uint32_t root = 0;  ///< the host of the origin, as HostRoutes numbers them
  std::uint64_t begin = 0, end = 0;
  std::vector<std::uint32_t> parent = {};  ///< per host; the root's is itself; none: not in the tree

  [[nodiscard]] double bytes() const { return static_cast<double>(end - begin); }
};

struct Forest {
  std::vector<HostTree> trees;
  std::vector<double> load;  ///< per channel: seconds that it is busy if every tree carries its bytes
  double seconds = 0;        ///< the most of these
};

/// Adds up loads.
[[nodiscard]] Forest loaded(const Network& network, const HostRoutes& routes, std::vector<HostTree> trees);

/// A slot is a phase: between two ranks goes at most one message, as long as its route carries in the time of a slot,
/// and on no channel do messages need more than there is. Parts are cut into grains, and a message takes those that its
/// sender has and that its receiver gets from it, of the trees first that have farthest to go. The more slots, the less
/// counts the time in which the trees fill, and the more messages there are. Ranks of one host copy what comes.
[[nodiscard]] Schedule send_in_slots(const Network& network, const Demand& demand, const HostRoutes& routes,
                                     const Forest& forest, const AlgorithmOptions& costs);

}  // namespace hocket::algorithms
