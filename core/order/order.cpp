#include "core/order/order.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>
#include <utility>

#include "core/algorithms/all_gather/ring_form.hpp"
#include "core/error.hpp"
#include "core/progress/progress.hpp"

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
  for (std::vector<Node>& cycle : algorithms::grid_cycles(Network::with_routes(std::move(full)))) {
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

namespace {

constexpr std::size_t most_hosts_permuted = 7;  ///< 5,040 orders
constexpr std::uint32_t most_ranks_permuted = 64;
constexpr std::uint32_t most_ranks_exchanged = 1 << 14;
constexpr std::uint64_t most_messages_exchanged = 2'000'000;
constexpr double least_gain = 1e-3;  ///< of the score
constexpr double same = 1e-9;        ///< scores that differ by rounding

/// One rank on each host in turn, as long as it has places left.
std::vector<Rank> dealt(const Network& network, std::span<const Node> hosts) {
  std::vector<Rank> place;
  for (std::uint32_t round = 0; place.size() < network.ranks(); ++round)
    for (const Node host : hosts)
      if (round < network.spec().ranks[host]) place.push_back(network.first_rank(host) + round);
  return place;
}

class Search {
 public:
  Search(const Network& network, std::span<const Call> calls) : network_(network), calls_(calls), wires_(network) {}

  void compare(std::vector<Rank> place, std::string_view how) {
    Progress::check();
    const double score = wires_.score(calls_, place);
    if (!best_.place.empty() && !(score < least_ - same)) return;
    least_ = score;
    best_ = {std::move(place), std::string(how)};
  }

  void compare_all(std::span<const Node> given) {
    std::vector<Node> hosts(given.begin(), given.end());
    std::ranges::sort(hosts);
    do compare(filled(network_, hosts), "the best of all orders");
    while (std::ranges::next_permutation(hosts).found);
  }

  [[nodiscard]] Order& best() { return best_; }
  [[nodiscard]] double least() const { return least_; }

 private:
  const Network& network_;
  std::span<const Call> calls_;
  Wires wires_;
  Order best_;
  double least_ = 0;
};

bool equal_hosts(const Network& network) {
  const std::uint32_t first = network.spec().ranks[network.hosts()[0]];
  return std::ranges::all_of(network.hosts(), [&](Node host) { return network.spec().ranks[host] == first; });
}

/// Slots in the order of these hosts. Units: all ranks of a host, where hosts alone can be moved; else each rank.
Units units_of(const Network& network, std::span<const Node> hosts, Freedom freedom) {
  const std::vector<Rank> place = filled(network, hosts);
  const std::uint32_t size = freedom == Freedom::hosts ? network.spec().ranks[hosts[0]] : 1;
  Units units;
  for (Rank rank = 0; rank < place.size(); rank += size) {
    auto& ranks = units.ranks.emplace_back();
    auto& places = units.places.emplace_back();
    for (Rank i = rank; i < rank + size; ++i) {
      ranks.push_back(i);
      places.push_back(place[i]);
    }
  }
  return units;
}

/// `of_form`: those of a step in closed form.
std::uint64_t messages(std::span<const Call> calls, Rank of_form) {
  std::uint64_t sum = 0;
  for (const Call& call : calls)
    for (const Step& step : call.steps) sum += step.messages.empty() ? of_form : step.messages.size();
  return sum;
}

/// Maps what the calls list: from scratch onto the hosts in the order in which rings load the wires least, and from the
/// given order.
void compare_mapped(const Network& network, std::span<const Node> given,
                    std::span<const std::vector<Node>* const> lines, std::span<const Call> calls, Freedom freedom,
                    std::uint64_t most_routes, Search& search) {
  if (freedom == Freedom::hosts && !equal_hosts(network)) return;
  const bool few =
      network.ranks() <= most_ranks_exchanged && messages(calls, network.ranks()) <= most_messages_exchanged;
  for (const std::vector<Node>* line : lines) {
    const Units units = units_of(network, *line, freedom);
    const UnitGraph graph = graph_of(units, calls);
    std::vector<Unit> slot = bisected(network, units, graph);
    search.compare(places_of(units, slot), "mapped by recursive bisection");
    if (few)
      search.compare(places_of(units, exchanged(network, units, graph, calls, std::move(slot), most_routes)),
                     "mapped by recursive bisection and exchanges");
  }
  if (!few) return;
  const Units as_given = units_of(network, given, freedom);
  const UnitGraph graph = graph_of(as_given, calls);
  std::vector<Unit> own(as_given.size());
  for (Unit unit = 0; unit < own.size(); ++unit) own[unit] = unit;
  search.compare(places_of(as_given, exchanged(network, as_given, graph, calls, std::move(own), most_routes)),
                 "the given order improved by exchanges");
}

void check(const Network& network, std::span<const Node> given, std::span<const Call> calls) {
  std::vector<Node> sorted(given.begin(), given.end());
  std::ranges::sort(sorted);
  if (!std::ranges::equal(sorted, network.hosts()))
    throw InputError("these are not the hosts of the network, each once");
  for (const Call& call : calls)
    for (const Step& step : call.steps)
      for (const Message& one : step.messages)
        if (one.src >= network.ranks() || one.dst >= network.ranks())
          throw InputError("a message is of a rank that the job does not have");
}

}  // namespace

std::vector<Rank> filled(const Network& network, std::span<const Node> hosts) {
  std::vector<Rank> place;
  place.reserve(network.ranks());
  for (const Node host : hosts)
    for (const Rank rank : network.ranks_of(host)) place.push_back(rank);
  return place;
}

Order order_ranks(const Network& network, std::span<const Node> given, std::span<const Call> calls, Freedom freedom,
                  std::uint64_t most_routes) {
  check(network, given, calls);
  Search search(network, calls);
  search.compare(filled(network, given), "as given");
  const double given_score = search.least();
  const Order as_given = search.best();
  const std::vector<HostOrder> orders = host_orders(network, given);
  const bool several = network.ranks() > network.hosts().size();
  for (const HostOrder& one : orders) {
    if (!std::ranges::equal(one.hosts, given)) search.compare(filled(network, one.hosts), one.how);
    if (several && freedom == Freedom::ranks)
      search.compare(dealt(network, one.hosts), std::string(one.how) + ", ranks dealt out to the hosts in turn");
  }
  if (given.size() <= most_hosts_permuted && network.ranks() <= most_ranks_permuted) search.compare_all(given);
  if (messages(calls, 0) > 0) {
    Wires wires(network);
    const Call ring{{{NativeStep{}, 1, {}}}};
    const auto line = std::ranges::min_element(
        orders, {}, [&](const HostOrder& one) { return wires.call(ring, filled(network, one.hosts)).seconds; });
    std::vector<const std::vector<Node>*> lines{&line->hosts};
    for (const HostOrder& one : orders)
      if (one.compact && &one != &*line) lines.push_back(&one.hosts);
    compare_mapped(network, given, lines, calls, freedom, most_routes, search);
  }
  return search.least() < given_score - least_gain ? search.best() : as_given;
}

Order reordered(const Network& network, std::span<const Rank> given, std::span<const Call> calls) {
  constexpr std::uint64_t most_routes = 2'000'000;
  Order best = order_ranks(network, network.hosts(), calls, Freedom::ranks, most_routes);
  Wires wires(network);
  const double gain = wires.score(calls, given) - wires.score(calls, best.place);  // a logarithm
  if (!(gain > least_gain)) return {{given.begin(), given.end()}, "as given"};
  best.gain = std::exp(gain);
  if (best.how == "as given") best.how = "in the order of the network's hosts";
  return best;
}

Schedule placed(const Schedule& schedule, std::span<const Rank> place) {
  if (place.size() != schedule.ranks()) throw InputError("an order needs one place per rank");
  std::vector<bool> taken(place.size(), false);
  for (const Rank at : place) {
    if (at >= place.size() || taken[at]) throw InputError("an order needs every place once");
    taken[at] = true;
  }
  check_ranks(schedule);
  std::vector<Hop> hops;
  for (const Hop hop : schedule.hops()) hops.push_back({place[hop.src], place[hop.dst]});
  PieceLists pieces = schedule.piece_lists();
  for (Piece& piece : pieces.pieces) {
    piece.origin = place[piece.origin];
    if (piece.target != everyone) piece.target = place[piece.target];
  }
  return {schedule.ranks(), schedule.message_bytes(),
          std::vector<std::uint64_t>(schedule.phase_begin().begin(), schedule.phase_begin().end()), std::move(hops),
          std::move(pieces)};
}

}  // namespace hocket::order
