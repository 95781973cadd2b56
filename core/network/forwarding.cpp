/// Routes along given forwarding tables, checked before anything is sent; and tables of given routes.
#include <map>
#include <unordered_map>

#include "core/network/routing.hpp"

namespace hocket {

namespace {

class ForwardingTables {
 public:
  explicit ForwardingTables(const NetworkSpec& spec) : spec_(spec), hops_(spec) {}

  NextHops next_hops() && {
    check_entries();
    tabulate();
    std::vector<std::uint32_t> mark(spec_.names.size(), 0);
    for (std::uint32_t i = 0; i < hops_.hosts().size(); ++i) check_ways(hops_.hosts()[i], i, mark);
    return std::move(hops_);
  }

 private:
  [[nodiscard]] Node tail(Channel channel) const { return hops_.head(channel ^ 1); }
  [[nodiscard]] std::string name(Node node) const { return "'" + spec_.names[node] + "'"; }

  void check_entries() const {
    const std::size_t nodes = spec_.names.size();
    for (std::size_t i = 0; i < spec_.next_hops.size(); ++i) {
      const HopSpec& hop = spec_.next_hops[i];
      const auto entry = static_cast<std::int64_t>(i);
      if (hop.at >= nodes || (hop.to >= nodes && hop.to != HopSpec::every_host))
        throw RouteProblem("a forwarding entry names an unknown node", -1, entry);
      if (hop.channel >= 2 * spec_.links.size() || tail(hop.channel) != hop.at)
        throw RouteProblem("a forwarding entry of " + name(hop.at) + " uses a channel that does not leave it", hop.at,
                           entry);
    }
    std::vector<std::uint32_t> order(spec_.next_hops.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [&](std::uint32_t i) {
      return std::uint64_t{spec_.next_hops[i].at} << 32 | spec_.next_hops[i].to;
    };
    std::sort(order.begin(), order.end(), [&](auto x, auto y) { return std::pair(key(x), x) < std::pair(key(y), y); });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (key(order[i - 1]) == key(order[i])) {
        const HopSpec& hop = spec_.next_hops[order[i]];
        const std::string to = hop.to == HopSpec::every_host ? "'*'" : name(hop.to);
        throw RouteProblem(name(hop.at) + " has two entries for " + to, hop.at, order[i]);
      }
  }

  /// An entry of its own comes first, then the host itself where it is wired to the node, then the default;
  /// a host with one link needs no entry.
  void tabulate() {
    std::vector<Channel> otherwise(spec_.names.size(), NextHops::none);
    std::vector<std::uint32_t> links(spec_.names.size(), 0);
    for (std::size_t i = spec_.links.size(); i-- > 0;)
      for (const Channel channel : {static_cast<Channel>(2 * i), static_cast<Channel>(2 * i + 1)})
        if (++links[tail(channel)] == 1) otherwise[tail(channel)] = channel;
    for (Node node = 0; node < spec_.names.size(); ++node)
      if (links[node] != 1 || spec_.ranks[node] == 0) otherwise[node] = NextHops::none;
    for (const HopSpec& hop : spec_.next_hops)
      if (hop.to == HopSpec::every_host) otherwise[hop.at] = hop.channel;
    for (const Node dst : hops_.hosts())
      for (Node node = 0; node < spec_.names.size(); ++node) hops_.set(node, dst, otherwise[node]);
    for (std::size_t i = spec_.links.size(); i-- > 0;)  // backwards: the first of several parallel links wins
      for (const Channel channel : {static_cast<Channel>(2 * i), static_cast<Channel>(2 * i + 1)})
        if (spec_.ranks[hops_.head(channel)] > 0) hops_.set(tail(channel), hops_.head(channel), channel);
    for (const HopSpec& hop : spec_.next_hops)
      if (hop.to != HopSpec::every_host && spec_.ranks[hop.to] > 0) hops_.set(hop.at, hop.to, hop.channel);
  }

  /// Every host's messages arrive at `dst`. `mark` says for which destination a node was seen last.
  void check_ways(Node dst, std::uint32_t round, std::vector<std::uint32_t>& mark) const {
    const std::uint32_t walking = 2 * round + 1, good = 2 * round + 2;  // hosts × 2 fits: see NextHops
    std::vector<Node> walk;
    mark[dst] = good;
    for (const Node src : hops_.hosts()) {
      walk.clear();
      Node node = src;
      while (mark[node] != good) {
        if (mark[node] == walking) throw circle(src, dst, node);
        mark[node] = walking;
        walk.push_back(node);
        const Channel channel = hops_.get(node, dst);
        if (channel == NextHops::none)
          throw RouteProblem("no route from " + name(src) + " to " + name(dst) + ": at " + name(node) +
                                 " the tables do not say where messages to " + name(dst) + " go",
                             node, -1);
        node = hops_.head(channel);
      }
      for (const Node seen : walk) mark[seen] = good;
    }
  }

  [[nodiscard]] RouteProblem circle(Node src, Node dst, Node begin) const {
    constexpr int most_named = 16;
    std::string text = "messages from " + name(src) + " to " + name(dst) + " run in a circle: " + spec_.names[begin];
    int named = 0;
    Node node = begin;
    do {
      node = hops_.head(hops_.get(node, dst));
      if (++named <= most_named || node == begin) text += " -> " + spec_.names[node];
      if (named == most_named && node != begin) text += " -> …";
    } while (node != begin);
    // The entry that sends them round: of the circle's nodes, the first that has one.
    do {
      for (std::size_t i = 0; i < spec_.next_hops.size(); ++i) {
        const HopSpec& hop = spec_.next_hops[i];
        if (hop.at == node && hop.channel == hops_.get(node, dst) && (hop.to == dst || hop.to == HopSpec::every_host))
          return RouteProblem(text, node, static_cast<std::int64_t>(i));
      }
      node = hops_.head(hops_.get(node, dst));
    } while (node != begin);
    return RouteProblem(text, begin, -1);
  }

  const NetworkSpec& spec_;
  NextHops hops_;
};

}  // namespace

NextHops forwarding_hops(const NetworkSpec& spec) { return ForwardingTables(spec).next_hops(); }

std::vector<HopSpec> forwarding_entries(const NetworkSpec& spec, const NextHops& hops) {
  std::vector<std::uint32_t> links(spec.names.size(), 0);
  std::map<std::pair<Node, Node>, Channel> direct;
  for (Channel channel = 0; channel < 2 * spec.links.size(); ++channel) {
    ++links[hops.head(channel ^ 1)];
    direct.emplace(std::pair(hops.head(channel ^ 1), hops.head(channel)), channel);
  }
  std::vector<HopSpec> entries;
  for (Node node = 0; node < spec.names.size(); ++node) {
    if (spec.ranks[node] > 0 && links[node] == 1) continue;
    std::vector<HopSpec> own;
    std::map<Channel, std::size_t> uses;
    for (const Node dst : hops.hosts()) {
      const Channel channel = hops.get(node, dst);
      const auto wire = direct.find({node, dst});
      if (channel == NextHops::none || (wire != direct.end() && wire->second == channel)) continue;
      own.push_back({node, dst, channel});
      if (wire == direct.end()) ++uses[channel];  // a default does not serve hosts that are wired to the node
    }
    const auto fewer = [](const auto& x, const auto& y) { return x.second < y.second; };
    const auto usual = std::max_element(uses.begin(), uses.end(), fewer);
    if (usual != uses.end() && usual->second > 1) {
      std::erase_if(
          own, [&](const HopSpec& hop) { return hop.channel == usual->first && !direct.contains({node, hop.to}); });
      entries.push_back({node, HopSpec::every_host, usual->first});
    }
    entries.insert(entries.end(), own.begin(), own.end());
  }
  return entries;
}

/// Explicit routes.

namespace {

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

std::unique_ptr<Routing> table_routing(const NetworkSpec& spec) { return std::make_unique<TableRouting>(spec); }

}  // namespace hocket
