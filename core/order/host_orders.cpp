#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "core/algorithms/all_gather/ring_form.hpp"
#include "core/order/order.hpp"

namespace hocket::order {
namespace {

constexpr std::size_t most_hosts_searched = 2048;  ///< a search looks at routes between all pairs
constexpr std::uint32_t most_nodes_of_cycles = 4096;

/// A rooted tree that spans the network; parents come before children.
struct Spanning {
  std::vector<Node> parent, order;
};

/// The fastest links, of equally fast ones those that are nearest to the root (Prim, 1957).
Spanning fastest_links(const Network& network) {
  const Grouped leaving = leaving_channels(network.spec());
  Node root = 0;
  while (root + 1 < network.nodes() && network.is_host(root)) ++root;
  if (network.is_host(root)) root = 0;
  Spanning tree{std::vector<Node>(network.nodes(), Tree::none), {}};
  std::vector<char> seen(network.nodes(), 0);
  using Edge = std::tuple<double, std::uint32_t, Channel, Node, Node>;  // −rate, depth, channel, from, to
  std::priority_queue<Edge, std::vector<Edge>, std::greater<>> edges;
  edges.emplace(0, 0, 0, Tree::none, root);
  while (!edges.empty()) {
    const auto [rate, depth, through, from, node] = edges.top();
    edges.pop();
    if (seen[node]) continue;
    seen[node] = 1;
    tree.parent[node] = from;
    tree.order.push_back(node);
    for (const Channel channel : leaving.of(node)) {
      const Node next = network.spec().head(channel);
      if (!seen[next]) edges.emplace(-network.rate(channel), depth + 1, channel, node, next);
    }
  }
  return tree;
}

enum class Branches : std::uint8_t { as_given, largest_first };

/// Hosts in depth-first order. A switch's own hosts come first. Branches follow each other by the place of their first
/// host in the given order, or by how many hosts they have: so groups whose numbers differ in one bit stay within one
/// branch.
std::vector<Node> depth_first(const Network& network, const Spanning& tree, std::span<const Node> given, Branches by) {
  std::vector<std::uint32_t> hosts(network.nodes(), 0), first(network.nodes(), ~std::uint32_t{0});
  for (std::uint32_t i = 0; i < given.size(); ++i) {
    hosts[given[i]] = 1;
    first[given[i]] = i;
  }
  for (std::size_t i = tree.order.size(); i-- > 1;) {
    const Node node = tree.order[i], parent = tree.parent[node];
    hosts[parent] += hosts[node];
    first[parent] = std::min(first[parent], first[node]);
  }
  std::vector<Node> nodes;  // all but the root, children of a node in the order in which they are entered
  for (std::size_t i = 1; i < tree.order.size(); ++i)
    if (hosts[tree.order[i]] > 0) nodes.push_back(tree.order[i]);
  std::ranges::sort(nodes, {}, [&](Node node) {
    return std::tuple(by == Branches::largest_first ? ~hosts[node] : 0, !network.is_host(node), first[node], node);
  });
  // Hosts before those of a node: what its parent has before it, and its elder sisters.
  std::vector<std::uint32_t> rank_of(network.nodes(), 0), taken(network.nodes(), 0), before(network.nodes(), 0);
  std::vector<std::vector<Node>> children(network.nodes());
  for (const Node node : nodes) children[tree.parent[node]].push_back(node);
  std::vector<Node> found(given.size());
  for (const Node node : tree.order) {
    if (hosts[node] == 0) continue;
    std::uint32_t at = before[node];
    if (network.is_host(node)) found[at++] = node;
    for (const Node child : children[node]) {
      before[child] = at;
      at += hosts[child];
    }
  }
  return found;
}

/// Through all hosts of a grid with one dimension after the other, in turn forwards and backwards. An even side comes
/// last, so that in a torus the way ends beside where it began.
std::vector<Node> snake(const Network& network, const std::vector<std::uint32_t>& sides) {
  const std::vector<std::uint32_t> strides = grid_strides(sides);
  std::vector<std::size_t> dimensions(sides.size());
  for (std::size_t d = 0; d < sides.size(); ++d) dimensions[d] = sides.size() - 1 - d;
  std::ranges::stable_partition(dimensions, [&](std::size_t d) { return sides[d] % 2 != 0; });
  std::vector<Node> path{0};
  for (const std::size_t d : dimensions) {
    const std::size_t size = path.size();
    for (std::uint32_t i = 1; i < sides[d]; ++i)
      for (std::size_t k = 0; k < size; ++k)
        path.push_back(i * strides[d] + (i % 2 != 0 ? path[size - 1 - k] : path[k]));
  }
  std::erase_if(path, [&](Node node) { return !network.is_host(node); });
  return path;
}

/// A box of a grid: the larger half of its longest side first, each half by halves again. Hosts that are near in this
/// order lie in one small box.
void halve(const Network& network, std::vector<std::uint32_t> from, std::vector<std::uint32_t> sizes,
           std::span<const std::uint32_t> strides, std::vector<Node>& found) {
  const auto longest = static_cast<std::size_t>(std::ranges::max_element(sizes) - sizes.begin());
  if (sizes[longest] == 1) {
    Node node = 0;
    for (std::size_t d = 0; d < from.size(); ++d) node += from[d] * strides[d];
    if (network.is_host(node)) found.push_back(node);
    return;
  }
  const std::uint32_t half = (sizes[longest] + 1) / 2, rest = sizes[longest] - half;
  sizes[longest] = half;
  halve(network, from, sizes, strides, found);
  sizes[longest] = rest;
  from[longest] += half;
  halve(network, std::move(from), std::move(sizes), strides, found);
}

void add_of_grid(const Network& network, std::vector<HostOrder>& orders) {
  const NetworkSpec& spec = network.spec();
  const std::vector<std::uint32_t> sides = grid_sides(spec);
  orders.push_back({"a snake", snake(network, sides)});
  orders.push_back({"by halves of the grid", {}, true});
  halve(network, std::vector<std::uint32_t>(sides.size(), 0), sides, grid_strides(sides), orders.back().hosts);
  if (network.nodes() > most_nodes_of_cycles) return;
  NetworkSpec full = spec;  // cycles are of all hosts
  full.ranks.assign(full.names.size(), 1);
  for (std::vector<Node>& cycle : algorithms::grid_cycles(Network(std::move(full)))) {
    std::erase_if(cycle, [&](Node node) { return !network.is_host(node); });
    orders.push_back({"a Hamiltonian cycle", std::move(cycle)});
  }
}

void add_of_graph(const Network& network, std::span<const Node> given, std::vector<HostOrder>& orders) {
  const bool fabric = network.wired_as() != nullptr || network.dragonfly() != nullptr;
  if (network.wired_as() != nullptr) {
    orders.push_back({"by subtrees of the fat tree", algorithms::host_ring(network)});
  } else if (network.dragonfly() != nullptr) {
    orders.push_back({"by groups of the dragonfly", algorithms::host_ring(network)});
  }
  if (!fabric && network.shape() == Shape::graph) {
    const Spanning tree = fastest_links(network);
    orders.push_back({"depth-first along the fastest links", depth_first(network, tree, given, Branches::as_given)});
  }
  if (!fabric && given.size() <= most_hosts_searched)
    orders.push_back({"a ring improved by search", algorithms::host_ring(network)});
}

}  // namespace

std::vector<HostOrder> host_orders(const Network& network, std::span<const Node> given) {
  std::vector<HostOrder> orders;
  orders.push_back({"as given", {given.begin(), given.end()}});
  if (const Tree* rooted = network.tree()) {
    const Spanning tree{rooted->parent, rooted->order};
    orders.push_back({"depth-first", depth_first(network, tree, given, Branches::as_given)});
    orders.push_back({"depth-first, large branches first", depth_first(network, tree, given, Branches::largest_first)});
  } else if (network.shape() == Shape::graph || network.shape() == Shape::routed) {
    add_of_graph(network, given, orders);
  } else {
    add_of_grid(network, orders);
  }
  orders.push_back({"as in the network file", {network.hosts().begin(), network.hosts().end()}});
  return orders;
}

}  // namespace hocket::order
