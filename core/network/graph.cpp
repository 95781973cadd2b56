/// Arbitrary graphs: balanced routes, and explicit ones.
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "core/network/balanced_hops.hpp"
#include "core/network/routing.hpp"

namespace hocket {
namespace {

class HopRouting final : public Routing {
 public:
  explicit HopRouting(NextHops hops) : hops_(std::move(hops)) {}
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

std::unique_ptr<Routing> balanced_routing(const NetworkSpec& spec) {
  return std::make_unique<HopRouting>(balanced_next_hops(spec));
}

std::unique_ptr<Routing> table_routing(const NetworkSpec& spec) { return std::make_unique<TableRouting>(spec); }

}  // namespace hocket
