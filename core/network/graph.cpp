/// Arbitrary graphs: shortest paths, and explicit routes.
#include <unordered_map>

#include "core/error.hpp"
#include "core/network/next_hops.hpp"
#include "core/network/routing.hpp"
#include "core/network/shortest_paths.hpp"

namespace hocket {
namespace {

/// Per destination host, every node's next channel on a shortest path (fewest channels). Among equally
/// short ones that which carries least of an all-to-all so far, starting with another one for each
/// destination, so that the load spreads. Every rank computes the same routes.
/// Source: Hoefler, Schneider and Lumsdaine, "Optimized Routing for Large-Scale InfiniBand Networks", 2009.
class ShortestPathRouting final : public Routing {
 public:
  explicit ShortestPathRouting(const NetworkSpec& spec) : hops_(spec) {
    ShortestPaths paths(spec);
    std::vector<double> load(2 * spec.links.size(), 0);  // seconds per byte that everyone sends to everyone
    std::vector<std::uint64_t> senders(spec.names.size());
    for (std::uint32_t i = 0; i < hops_.hosts().size(); ++i) {
      const Node dst = hops_.hosts()[i];
      paths.find(dst);
      for (const Node host : hops_.hosts())
        if (!paths.reaches(host))
          throw NetworkProblem("'" + spec.names[host] + "' is not connected to '" + spec.names[dst] + "'", host);
      // From the farthest node on, so that all that pass a node are known when its way is chosen.
      senders.assign(spec.ranks.begin(), spec.ranks.end());
      const std::vector<Node>& nodes = paths.nearest_first();
      for (std::size_t at = nodes.size(); at-- > 1;) {
        const Node node = nodes[at];
        const std::vector<Channel>& best = paths.best(node);
        Channel chosen = best[i % best.size()];
        for (std::size_t k = 1; k < best.size(); ++k)
          if (const Channel other = best[(i + k) % best.size()]; load[other] < load[chosen]) chosen = other;
        hops_.set(node, dst, chosen);
        load[chosen] += static_cast<double>(senders[node]) * spec.ranks[dst] / spec.links[chosen / 2].rate;
        senders[paths.head(chosen)] += senders[node];
      }
    }
  }

  void append(Node src, Node dst, std::vector<Channel>& route) const override { hops_.append(src, dst, route); }

 private:
  NextHops hops_;
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
