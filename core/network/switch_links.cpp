#include "core/network/switch_links.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace hocket {
namespace {

/// Hosts below each node of the rooted tree, and links down to the farthest of them.
struct Below {
  std::vector<std::uint32_t> hosts, height;
};

Below count_below(const Network& network, const Tree& tree) {
  Below below{std::vector<std::uint32_t>(network.nodes(), 0), std::vector<std::uint32_t>(network.nodes(), 0)};
  for (std::size_t i = tree.order.size(); i-- > 0;) {
    const Node node = tree.order[i];
    below.hosts[node] += network.is_host(node) ? 1 : 0;
    const Node parent = tree.parent[node];
    if (parent == Tree::none || below.hosts[node] == 0) continue;
    below.hosts[parent] += below.hosts[node];
    below.height[parent] = std::max(below.height[parent], below.height[node] + 1);
  }
  return below;
}

/// Links from each node to the farthest host that is not below it.
std::vector<std::uint32_t> heights_above(const Tree& tree, const Below& below) {
  const std::size_t nodes = tree.order.size();
  std::vector<std::array<std::uint32_t, 2>> longest(nodes, {0, 0});  // ways down from each node by different children
  for (const Node node : tree.order) {
    if (tree.parent[node] == Tree::none || below.hosts[node] == 0) continue;
    auto& two = longest[tree.parent[node]];
    const std::uint32_t way = below.height[node] + 1;
    if (way > two[0])
      two = {way, two[0]};
    else
      two[1] = std::max(two[1], way);
  }
  std::vector<std::uint32_t> above(nodes, 0);
  for (const Node node : tree.order) {
    const Node parent = tree.parent[node];
    if (parent == Tree::none) continue;
    const bool by_this = below.hosts[node] > 0 && longest[parent][0] == below.height[node] + 1;
    above[node] = 1 + std::max(above[parent], longest[parent][by_this ? 1 : 0]);
  }
  return above;
}

struct Placed {
  Node host;
  std::uint32_t distance;  ///< from the end of the inter-switch link
};

/// The hosts on one side of a link, in an order of which every beginning has hosts of all branches in proportion.
std::vector<Placed> spread(const Network& network, const Grouped& leaving, Node root, Node across) {
  struct Visit {
    Node node, from;
    std::uint32_t distance;
  };
  std::vector<Visit> order{{root, across, 0}};
  for (std::size_t at = 0; at < order.size(); ++at)
    for (const Channel channel : leaving.of(order[at].node))
      if (const Node next = network.spec().head(channel); next != order[at].from)
        order.push_back({next, order[at].node, order[at].distance + 1});
  std::vector<std::vector<std::vector<Placed>>> branches(network.nodes());
  for (std::size_t at = order.size(); at-- > 0;) {
    const Visit& visit = order[at];
    auto& parts = branches[visit.node];
    std::ranges::reverse(parts);  // the last branch was visited first
    if (network.is_host(visit.node)) parts.push_back({{visit.node, visit.distance}});
    std::vector<std::pair<double, Placed>> keyed;
    for (const auto& part : parts)
      for (std::size_t j = 0; j < part.size(); ++j)
        keyed.emplace_back((static_cast<double>(j) + 0.5) / static_cast<double>(part.size()), part[j]);
    std::ranges::stable_sort(keyed, {}, &std::pair<double, Placed>::first);
    std::vector<Placed> merged;
    for (const auto& [key, placed] : keyed) merged.push_back(placed);
    parts.clear();
    if (at == 0) return merged;
    if (!merged.empty()) branches[visit.from].push_back(std::move(merged));
  }
  return {};
}

}  // namespace

std::vector<SwitchLink> switch_links(const Network& network) {
  const Tree* const tree = network.tree();
  if (tree == nullptr) return {};
  const Below below = count_below(network, *tree);
  const std::vector<std::uint32_t> above = heights_above(*tree, below);
  const auto all = static_cast<std::uint32_t>(network.hosts().size());
  std::vector<SwitchLink> found;
  for (Node node = 0; node < network.nodes(); ++node) {
    if (tree->parent[node] == Tree::none) continue;
    const std::uint32_t here = below.hosts[node], there = all - here;
    if (std::min(here, there) < 2) continue;
    const std::uint32_t height = below.height[node], other = above[node] - 1;
    const std::uint32_t level = here < there ? height : there < here ? other : std::min(height, other);
    found.push_back({tree->up[node] / 2, std::min(here, there), level});
  }
  std::ranges::sort(found, {}, &SwitchLink::link);
  return found;
}

bool only_ports_shared(const Network& network) {
  const Tree* const tree = network.tree();
  if (tree == nullptr || network.ranks() != network.hosts().size()) return false;
  const Below below = count_below(network, *tree);
  const auto all = static_cast<std::uint32_t>(network.hosts().size());
  for (Node node = 0; node < network.nodes(); ++node) {
    if (tree->parent[node] == Tree::none) continue;
    const std::uint32_t most = std::min(below.hosts[node], all - below.hosts[node]);
    for (const Channel channel : {tree->up[node], tree->up[node] ^ 1})
      if (network.rate(channel) * (1 + 1e-9) < most * network.host_rate()) return false;
  }
  return true;
}

std::vector<HostPair> switch_link_pairs(const Network& network, std::uint32_t link) {
  const Grouped leaving = leaving_channels(network.spec());
  const LinkSpec& ends = network.spec().links.at(link);
  std::vector<Placed> fewer = spread(network, leaving, ends.a, ends.b);
  std::vector<Placed> more = spread(network, leaving, ends.b, ends.a);
  if (fewer.size() > more.size()) std::swap(fewer, more);
  std::ranges::stable_sort(more, {}, &Placed::distance);
  std::vector<HostPair> pairs;
  for (std::size_t i = 0; i < fewer.size(); ++i) pairs.emplace_back(fewer[i].host, more[i].host);
  return pairs;
}

std::vector<HostPair> pair_without_switch_link(const Network& network) {
  const Tree* const tree = network.tree();
  if (tree == nullptr) return {};
  std::map<Node, Node> first;  // host at a switch
  for (const Node host : network.hosts()) {
    const auto [known, fresh] = first.emplace(tree->parent[host], host);
    if (!fresh) return {{known->second, host}};
  }
  return {};
}

std::vector<std::size_t> representatives(std::span<const SwitchLink> switch_links, std::size_t most) {
  std::vector<std::size_t> own(switch_links.size());
  std::iota(own.begin(), own.end(), std::size_t{0});
  if (switch_links.size() <= most) return own;
  const auto by = [&](auto key) {
    std::map<decltype(key(switch_links[0])), std::size_t> first;
    std::vector<std::size_t> of;
    for (std::size_t i = 0; i < switch_links.size(); ++i)
      of.push_back(first.emplace(key(switch_links[i]), i).first->second);
    return of;
  };
  std::vector<std::size_t> classes =
      by([](const SwitchLink& switch_link) { return std::pair(switch_link.level, switch_link.hosts); });
  if (std::set(classes.begin(), classes.end()).size() <= most) return classes;
  return by([](const SwitchLink& switch_link) { return switch_link.level; });
}

double settled_width(double measured, std::uint32_t pairs) {
  constexpr double noise = 0.08;
  constexpr std::array shares{1.5, 2.0, 3.0, 4.0, 6.0, 8.0};
  if (measured >= pairs * (1 - noise)) return pairs;
  const auto near = [&](double usual) { return usual > 0 && std::abs(measured - usual) <= noise * usual; };
  for (const double share : shares)
    if (near(pairs / share)) return pairs / share;
  if (const double whole = std::round(measured); near(whole)) return whole;
  const double digit = std::pow(10.0, std::floor(std::log10(std::max(measured, 1e-3))) - 1);
  return std::max(1e-3, std::round(measured / digit) * digit);
}

Network with_widths(const Network& network, std::span<const SwitchLinkWidth> widths) {
  NetworkSpec spec = network.spec();
  for (const auto& [link, width] : widths) spec.links.at(link).rate = width * network.host_rate();
  return Network::with_routes(std::move(spec));
}

}  // namespace hocket
