/// Arbitrary graphs: shortest paths, and explicit routes.
#include <algorithm>
#include <unordered_map>

#include "hocket/error.hpp"
#include "hocket/network/routing.hpp"

namespace hocket {
namespace {

constexpr std::uint64_t max_route_table = 1u << 28;  // next hops, one per (node, host)

/// Per destination host, every node's next channel on a shortest path (fewest channels). Among
/// equally short ones the destination number chooses, as destination-routed fat trees do, so that
/// the load spreads and every rank computes the same route.
class ShortestPathRouting final : public Routing {
 public:
  explicit ShortestPathRouting(const NetworkSpec& spec) : nodes_(static_cast<Node>(spec.names.size())) {
    std::vector<std::vector<Channel>> leaving(nodes_);
    for (std::size_t i = 0; i < spec.links.size(); ++i) {
      leaving[spec.links[i].a].push_back(static_cast<Channel>(2 * i));
      leaving[spec.links[i].b].push_back(static_cast<Channel>(2 * i + 1));
      head_.push_back(spec.links[i].b);
      head_.push_back(spec.links[i].a);
    }
    column_.assign(nodes_, 0);
    std::uint32_t hosts = 0;
    for (Node node = 0; node < nodes_; ++node)
      if (spec.ranks[node] > 0) column_[node] = hosts++;
    if (std::uint64_t{hosts} * nodes_ > max_route_table)
      throw NetworkProblem("a general graph of this size has too many routes to tabulate");
    next_.assign(std::size_t{hosts} * nodes_, 0);

    std::vector<std::uint32_t> distance(nodes_);
    std::vector<Node> queue;
    for (Node dst = 0; dst < nodes_; ++dst) {
      if (spec.ranks[dst] == 0) continue;
      std::fill(distance.begin(), distance.end(), ~0u);
      distance[dst] = 0;
      queue.assign(1, dst);
      for (std::size_t at = 0; at < queue.size(); ++at) {
        const Node node = queue[at];
        if (spec.ranks[node] > 0 && node != dst) continue;  // hosts do not forward
        for (const Channel channel : leaving[node]) {
          const Node to = head_[channel];
          if (distance[to] == ~0u) distance[to] = distance[node] + 1, queue.push_back(to);
        }
      }
      std::vector<Channel> best;
      for (Node node = 0; node < nodes_; ++node) {
        if (node == dst) continue;
        if (distance[node] == ~0u) {
          if (spec.ranks[node] > 0)
            throw NetworkProblem("'" + spec.names[node] + "' is not connected to '" + spec.names[dst] + "'", node);
          continue;
        }
        best.clear();
        for (const Channel channel : leaving[node]) {
          const Node to = head_[channel];
          const bool forwards = spec.ranks[to] == 0 || to == dst;
          if (forwards && distance[to] + 1 == distance[node]) best.push_back(channel);
        }
        next_[std::size_t{column_[dst]} * nodes_ + node] = best[column_[dst] % best.size()];
      }
    }
  }

  void append(Node src, Node dst, std::vector<Channel>& route) const override {
    while (src != dst) {
      const Channel channel = next_[std::size_t{column_[dst]} * nodes_ + src];
      route.push_back(channel);
      src = head_[channel];
    }
  }

 private:
  Node nodes_;
  std::vector<Node> head_;             ///< per channel: where it leads
  std::vector<std::uint32_t> column_;  ///< per host: its row in next_
  std::vector<Channel> next_;
};

class TableRouting final : public Routing {
 public:
  explicit TableRouting(const NetworkSpec& spec) : nodes_(static_cast<Node>(spec.names.size())) {
    for (const RouteSpec& route : spec.routes) {
      if (route.src >= nodes_ || route.dst >= nodes_ || spec.ranks[route.src] == 0 || spec.ranks[route.dst] == 0)
        throw NetworkProblem("a route joins something that is not a host");
      for (const Channel channel : route.channels)
        if (channel >= spec.channels.size()) throw NetworkProblem("a route uses an unknown channel", route.src);
      routes_.emplace(key(route.src, route.dst), route.channels);
    }
    for (Node src = 0; src < nodes_; ++src)
      for (Node dst = 0; dst < nodes_; ++dst)
        if (src != dst && spec.ranks[src] > 0 && spec.ranks[dst] > 0 && !routes_.contains(key(src, dst)))
          throw NetworkProblem("no route from '" + spec.names[src] + "' to '" + spec.names[dst] + "'", src);
  }

  void append(Node src, Node dst, std::vector<Channel>& route) const override {
    const std::vector<Channel>& channels = routes_.at(key(src, dst));
    route.insert(route.end(), channels.begin(), channels.end());
  }

 private:
  [[nodiscard]] std::uint64_t key(Node src, Node dst) const { return std::uint64_t{src} * nodes_ + dst; }

  Node nodes_;
  std::unordered_map<std::uint64_t, std::vector<Channel>> routes_;
};

}  // namespace

std::unique_ptr<Routing> shortest_path_routing(const NetworkSpec& spec) {
  return std::make_unique<ShortestPathRouting>(spec);
}

std::unique_ptr<Routing> table_routing(const NetworkSpec& spec) { return std::make_unique<TableRouting>(spec); }

}  // namespace hocket
