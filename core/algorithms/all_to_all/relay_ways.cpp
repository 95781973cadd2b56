#include "core/algorithms/all_to_all/relay_ways.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/progress/progress.hpp"

namespace hocket::algorithms {
namespace {

constexpr int sweeps = 30, most_targets = 20;
constexpr std::uint64_t share_of_a_raise = 100;  // of the slots: a hundredth more
constexpr double least_penalty = 0.5, more_penalty = 1.2;
constexpr double learning = 0.3;

class Ways {
 public:
  Ways(const Network& network, const RelayGraph& graph, std::uint32_t parts, std::uint64_t slots)
      : graph_(graph),
        load_(network.channels(), 0),
        price_(network.channels(), 0),
        slots_(slots),
        history_(network.channels(), 0) {
    for (std::uint32_t from = 0; from < graph.hosts; ++from)
      for (std::uint32_t to = 0; to < graph.hosts; ++to)
        for (std::uint32_t part = 0; from != to && part < parts; ++part) ways_.push_back({from, to, {}});
  }

  RelayWays run() {
    Steps steps("ways through other ranks", most_targets);
    bool fits = false;
    for (int target = 0; target < most_targets && !fits; ++target, steps.tick()) {
      if (target > 0) slots_ += std::max<std::uint64_t>(1, slots_ / share_of_a_raise);
      for (int sweep = 0; sweep < sweeps && !fits; ++sweep) {
        penalty_ = least_penalty * std::pow(more_penalty, sweep);
        for (Channel channel = 0; channel < load_.size(); ++channel) {
          if (const double over = excess(channel, 0); over > 0) history_[channel] += learning * over;
          set_price(channel);
        }
        fits = true;
        for (Way& way : ways_) {
          if (!way.edges.empty() && std::ranges::none_of(way.edges, [&](std::uint32_t edge) { return is_full(edge); }))
            continue;
          carry(way, -1);
          find(way);
          carry(way, 1);
          fits = false;
        }
      }
    }
    RelayWays found;
    for (const Way& way : ways_) {
      found.edges.insert(found.edges.end(), way.edges.begin(), way.edges.end());
      found.begin.push_back(static_cast<std::uint32_t>(found.edges.size()));
    }
    return found;
  }

 private:
  struct Way {
    std::uint32_t from, to;
    std::vector<std::uint32_t> edges;
  };

  /// Parts beyond what fits, with so many more, in parts of a slot.
  [[nodiscard]] double excess(Channel channel, int more) const {
    const double room = graph_.room[channel];
    return (static_cast<double>(load_[channel] + more) - static_cast<double>(slots_) * room) / room;
  }
  /// True if a channel carries more than fits.
  [[nodiscard]] bool is_full(std::uint32_t edge) const {
    return std::ranges::any_of(graph_.edges[edge].channels, [&](Channel channel) { return excess(channel, 0) > 0; });
  }

  void carry(const Way& way, int parts) {
    for (const std::uint32_t edge : way.edges)
      for (const Channel channel : graph_.edges[edge].channels) {
        load_[channel] += parts;
        set_price(channel);
      }
  }

  void set_price(Channel channel) {
    price_[channel] = (1 + history_[channel]) * (1 + penalty_ * std::max(0.0, excess(channel, 1)));
  }

  /// The cheapest way (Dijkstra).
  void find(Way& way) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    constexpr std::uint32_t none = ~std::uint32_t{0};
    distance_.assign(graph_.hosts, infinite);
    by_.assign(graph_.hosts, none);
    settled_.assign(graph_.hosts, 0);
    distance_[way.from] = 0;
    for (std::uint32_t at = way.from; at != way.to;) {
      settled_[at] = 1;
      for (const std::uint32_t edge : graph_.leaving[at]) {
        double distance = distance_[at];
        for (const Channel channel : graph_.edges[edge].channels) distance += price_[channel];
        const std::uint32_t to = graph_.edges[edge].to;
        if (settled_[to] == 0 && distance < distance_[to]) distance_[to] = distance, by_[to] = edge;
      }
      std::uint32_t next = none;
      for (std::uint32_t host = 0; host < graph_.hosts; ++host)
        if (settled_[host] == 0 && by_[host] != none && (next == none || distance_[host] < distance_[next]))
          next = host;
      at = next;
    }
    way.edges.clear();
    for (std::uint32_t at = way.to; at != way.from; at = graph_.edges[by_[at]].from) way.edges.push_back(by_[at]);
    std::ranges::reverse(way.edges);
  }

  const RelayGraph& graph_;
  std::vector<Way> ways_;
  std::vector<std::int64_t> load_;  ///< parts, per channel
  std::vector<double> price_;       ///< per channel
  std::uint64_t slots_;
  double penalty_ = least_penalty;
  std::vector<double> history_;  ///< per channel: what it has been too full for
  std::vector<double> distance_;
  std::vector<std::uint32_t> by_;
  std::vector<char> settled_;
};

}  // namespace

RelayGraph::RelayGraph(const Network& network, const HostRoutes& routes)
    : hosts(routes.hosts()), leaving(hosts), room(network.channels(), 1) {
  for (std::uint32_t from = 0; from < hosts; ++from)
    for (std::uint32_t to = 0; to < hosts; ++to) {
      const std::span<const Channel> channels = routes.between(from, to);
      if (channels.empty()) continue;
      leaving[from].push_back(static_cast<std::uint32_t>(edges.size()));
      edges.push_back({from, to, channels, own_speed(network, channels)});
      slowest = slowest == 0 ? edges.back().speed : std::min(slowest, edges.back().speed);
    }
}

void RelayGraph::divide(const Network& network, std::uint32_t of_slowest) {
  const auto whole = [&](double speed) {
    return static_cast<std::uint32_t>(std::clamp(std::floor(speed / slowest * of_slowest * (1 + 1e-9)), 1.0, 1e6));
  };
  for (RelayEdge& edge : edges) edge.parts = whole(edge.speed);
  for (Channel channel = 0; channel < room.size(); ++channel) room[channel] = whole(network.rate(channel));
}

RelayWays find_relay_ways(const Network& network, const RelayGraph& graph, std::uint32_t parts, std::uint64_t slots) {
  return Ways(network, graph, parts, slots).run();
}

}  // namespace hocket::algorithms
