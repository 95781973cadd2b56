#include "core/schedule/bounds.hpp"

#include <limits>
#include <numeric>

#include "core/network/routing.hpp"

namespace hocket {

namespace {

/// Phases for so many messages through so many ports.
std::uint64_t in_turn(std::uint64_t messages, std::uint64_t ports) { return (messages + ports - 1) / ports; }

/// All-to-all on a tree: a channel carries (ranks behind it) × (ranks before it) messages.
std::vector<std::uint64_t> tree_loads(const Network& network, const Tree& tree) {
  std::vector<std::uint64_t> load(network.channels(), 0), below(network.nodes(), 0);
  for (const Node host : network.hosts()) below[host] = network.spec().ranks[host];
  for (std::size_t i = tree.order.size(); i-- > 1;) {
    const Node node = tree.order[i];
    const std::uint64_t crossing = below[node] * (network.ranks() - below[node]);
    load[tree.up[node]] = load[tree.up[node] ^ 1] = crossing;
    below[tree.parent[node]] += below[node];
  }
  return load;
}

/// Grids of equally many ranks on every host, dimension by dimension: what crosses a channel comes from any
/// node that differs in the dimensions before, and goes to any that differs in those behind.
std::vector<std::uint64_t> grid_loads(const Network& network) {
  const NetworkSpec& spec = network.spec();
  const std::vector<std::uint32_t> sides = grid_sides(spec), strides = grid_strides(sides);
  const std::uint64_t per_host = network.ranks_per_host(), pairs = per_host * per_host;
  std::vector<RingLoads> loads;
  for (std::size_t d = 0; d < sides.size(); ++d)
    loads.push_back(spec.shape == Shape::torus ? ring_loads(sides[d], spec.ties[d]) : line_loads(sides[d]));
  std::vector<std::uint64_t> load(network.channels());
  for (std::size_t i = 0; i < spec.links.size(); ++i) {
    const LinkSpec& link = spec.links[i];
    const auto coordinate = [&](Node node, std::size_t d) { return node / strides[d] % sides[d]; };
    std::size_t d = 0;
    while (coordinate(link.a, d) == coordinate(link.b, d)) ++d;
    const std::uint64_t rows = network.nodes() / sides[d] * pairs;
    load[2 * i] = loads[d].up[coordinate(link.a, d)] * rows;  // links of grids go up
    load[2 * i + 1] = loads[d].down[coordinate(link.b, d)] * rows;
  }
  return load;
}

/// Dragonflies: a link between groups carries what one group sends the other, one between routers all that these send
/// over each other's links besides their own.
std::vector<std::uint64_t> dragonfly_loads(const Network& network, const Dragonfly& dragonfly) {
  const std::uint32_t groups = dragonfly.groups(), routers = dragonfly.routers();
  std::vector<std::uint64_t> at(std::size_t{groups} * routers, 0), in(groups, 0), out(at.size(), 0);
  for (const Node host : network.hosts()) {
    at[dragonfly.router(host)] += network.spec().ranks[host];
    in[dragonfly.router(host) / routers] += network.spec().ranks[host];
  }
  for (std::uint32_t from = 0; from < groups; ++from)  // per router: ranks that its own links lead to
    for (std::uint32_t to = 0; to < groups; ++to)
      if (to != from) out[dragonfly.router(dragonfly.tail(dragonfly.between(from, to)))] += in[to];
  std::vector<std::uint64_t> load(network.channels());
  for (Channel channel = 0; channel < load.size(); ++channel) {
    const Node tail = dragonfly.tail(channel), head = dragonfly.head(channel);
    const std::uint32_t a = dragonfly.router(tail), b = dragonfly.router(head);
    if (dragonfly.is_leaf(tail) || dragonfly.is_leaf(head)) {
      const std::uint64_t ranks = network.spec().ranks[dragonfly.is_leaf(tail) ? tail : head];
      load[channel] = ranks * (network.ranks() - ranks);
    } else {
      load[channel] = a / routers == b / routers ? at[a] * at[b] + at[a] * out[b] + out[a] * at[b]
                                                 : in[a / routers] * in[b / routers];
    }
  }
  return load;
}

std::vector<std::uint64_t> route_loads(const Network& network) {
  std::vector<std::uint64_t> load(network.channels(), 0);
  std::vector<Channel> route;
  for (Rank src = 0; src < network.ranks(); ++src)
    for (Rank dst = 0; dst < network.ranks(); ++dst)
      for (const Channel channel : network.find_route(src, dst, route)) ++load[channel];
  return load;
}

std::vector<std::uint64_t> all_to_all_loads(const Network& network) {
  if (network.tree() != nullptr) return tree_loads(network, *network.tree());
  if (network.fat_tree() != nullptr) return network.fat_tree()->all_to_all_loads(network.spec());
  if (network.dragonfly() != nullptr) return dragonfly_loads(network, *network.dragonfly());
  return is_grid(network.shape()) && network.ranks_per_host() > 0 ? grid_loads(network) : route_loads(network);
}

Bounds all_to_all_bounds(const Network& network, const Demand& demand) {
  Bounds bounds;
  bounds.load = all_to_all_loads(network);
  for (Rank rank = 0; rank < demand.ranks; ++rank)
    bounds.phases = std::max(bounds.phases, in_turn(demand.ranks - 1, network.ports(rank)));
  for (Channel channel = 0; channel < network.channels(); ++channel) {
    const std::uint64_t load = bounds.load[channel], capacity = network.capacity(channel);
    bounds.phases = std::max(bounds.phases, (load + capacity - 1) / capacity);
    const double seconds = static_cast<double>(load) * static_cast<double>(demand.bytes) / network.rate(channel);
    if (seconds > bounds.seconds) {
      bounds.seconds = seconds;
      bounds.bottleneck = channel;
    }
  }
  return bounds;
}

/// Bounds of an irregular exchange. Only bytes that cross a wire count: ranks of one host share memory.
Bounds irregular_bounds(const Network& network, const Demand& demand) {
  Bounds bounds;
  bounds.load.assign(network.channels(), 0);
  std::vector<std::uint64_t> sends(demand.ranks, 0), receives(demand.ranks, 0);
  std::vector<double> bytes(network.channels(), 0), out(demand.ranks, 0), in(demand.ranks, 0);
  std::vector<Channel> route;
  demand.matrix.each([&](Rank src, Rank dst, std::uint64_t length) {
    bounds.phases = std::max(
        {bounds.phases, in_turn(++sends[src], network.ports(src)), in_turn(++receives[dst], network.ports(dst))});
    for (const Channel channel : network.find_route(src, dst, route)) {
      ++bounds.load[channel];
      bytes[channel] += static_cast<double>(length);
    }
    if (route.empty()) return;
    out[src] += static_cast<double>(length);
    in[dst] += static_cast<double>(length);
  });
  for (Channel channel = 0; channel < network.channels(); ++channel) {
    const std::uint64_t load = bounds.load[channel], capacity = network.capacity(channel);
    bounds.phases = std::max(bounds.phases, (load + capacity - 1) / capacity);
    if (const double seconds = bytes[channel] / network.rate(channel); seconds > bounds.seconds) {
      bounds.seconds = seconds;
      bounds.bottleneck = channel;
    }
  }
  for (Rank rank = 0; rank < demand.ranks; ++rank)
    bounds.port_seconds =
        std::max(bounds.port_seconds, std::max(out[rank], in[rank]) / (network.ports(rank) * network.host_rate()));
  return bounds;
}

/// A vector's time into parts of the network that hold hosts, which it enters 2 (parts - 1) times in all as it would
/// hosts. A part is what links of at least a rate hold together.
double seconds_into_parts(const Network& network, double vector, double rate) {
  std::vector<Node> part(network.nodes());
  std::iota(part.begin(), part.end(), 0U);
  const auto part_of = [&](Node node) {
    while (part[node] != node) node = part[node] = part[part[node]];
    return node;
  };
  for (const LinkSpec& link : network.spec().links)
    if (link.rate >= rate) part[part_of(link.a)] = part_of(link.b);
  std::vector<bool> has_hosts(network.nodes(), false);
  for (const Node host : network.hosts()) has_hosts[part_of(host)] = true;
  double into = 0;
  for (Channel channel = 0; channel < network.channels(); ++channel) {
    const Node from = part_of(network.spec().tail(channel)), to = part_of(network.spec().head(channel));
    if (from != to && has_hosts[to]) into += network.rate(channel);
  }
  const auto parts = static_cast<double>(std::ranges::count(has_hosts, true));
  return parts < 2 ? 0 : 2 * (parts - 1) * vector / into;
}

/// The most of these: parts are hosts, or boxes of hosts whose links to each other are faster than those to others.
double seconds_into_parts(const Network& network, double vector) {
  if (network.shape() == Shape::routed) return 0;  // only routes are known
  constexpr std::size_t most_rates = 16;
  std::vector<double> rates{std::numeric_limits<double>::infinity()};
  for (const LinkSpec& link : network.spec().links)
    if (rates.size() < most_rates && std::ranges::find(rates, link.rate) == rates.end()) rates.push_back(link.rate);
  double most = 0;
  for (const double rate : rates) most = std::max(most, seconds_into_parts(network, vector, rate));
  return most;
}

/// Bounds of a reduce-scatter: those of the all-gather with every channel reversed, since the sums take the way back.
Bounds reduce_scatter_bounds(const Network& network, const Demand& demand) {
  Bounds bounds = all_gather_bounds(network, demand);
  for (Channel up = 0; up + 1 < network.channels(); up += 2) std::swap(bounds.load[up], bounds.load[up + 1]);
  bounds.bottleneck ^= 1;
  return bounds;
}

/// Every side of a cut must hear of the other's sum: the whole vector crosses it. No switch adds, so the vector goes
/// into N hosts, or parts of the network, 2 (N - 1) times in all (Patarasuk and Yuan, "Bandwidth optimal all-reduce
/// algorithms for clusters of workstations", JPDC 2009).
Bounds all_reduce_bounds(const Network& network, const Demand& demand) {
  std::uint64_t vector = 0;
  for (Rank rank = 0; rank < demand.ranks; ++rank) vector += demand.contribution(rank);
  Demand from_first{Pattern::all_gather, demand.ranks, vector, std::vector<std::uint64_t>(demand.ranks, 0)};
  if (demand.ranks > 0) from_first.contributions[0] = vector;
  Bounds bounds = all_gather_bounds(network, gather_of(demand));
  const Bounds across = all_gather_bounds(network, from_first);
  for (Channel up = 0; up + 1 < network.channels(); up += 2)
    bounds.load[up] = bounds.load[up + 1] = bounds.load[up] + bounds.load[up + 1];
  if (network.hosts().size() < 2) return bounds;
  const double parts = seconds_into_parts(network, static_cast<double>(vector));
  bounds.seconds = std::max(across.seconds, parts);
  if (across.seconds >= parts) bounds.bottleneck = across.bottleneck;
  return bounds;
}

/// True if there is a byte to send.
bool sends_anything(const Demand& demand) {
  if (demand.contributions.empty()) return demand.bytes > 0;
  return std::ranges::any_of(demand.contributions, [](std::uint64_t bytes) { return bytes > 0; });
}

}  // namespace

Bounds lower_bounds(const Network& network, const Demand& demand) {
  switch (demand.pattern) {
    case Pattern::all_to_all:
      return all_to_all_bounds(network, demand);
    case Pattern::all_gather:
      return all_gather_bounds(network, demand);
    case Pattern::irregular:
      return irregular_bounds(network, demand);
    case Pattern::reduce_scatter:
      return reduce_scatter_bounds(network, demand);
    case Pattern::all_reduce:
      return all_reduce_bounds(network, demand);
  }
  throw InputError("no such pattern");
}

std::uint64_t least_phases(const Network& network, const Demand& demand, const Bounds& bounds, PortModel ports) {
  if (!demand.by_blocks()) return bounds.phases;
  return sends_anything(demand) ? fewest_phases(network, ports) : 0;
}

double least_seconds(const Network& network, const Demand& demand, const Bounds& bounds, double alpha) {
  if (!demand.by_blocks() || alpha == 0 || network.ranks() < 2 || !sends_anything(demand)) return bounds.seconds;
  // Each rank's data must reach all ranks, except in a reduce-scatter where some ranks get no sum: there one phase may
  // do.
  const bool to_all = demand.pattern != Pattern::reduce_scatter ||
                      std::ranges::find(demand.contributions, 0U) == demand.contributions.end();
  const auto phases = to_all ? static_cast<double>(fewest_phases(network, PortModel::all_port)) : 1;
  return std::max(alpha * phases, alpha + bounds.seconds);
}

constexpr double tolerance = 1e-12;

/// Parity is the best table for a ring of equal ranks: its loads differ by one message at most.
static std::vector<std::string> balanced_ties(const NetworkSpec& spec) {
  std::vector<std::string> ties = spec.ties;
  const std::vector<std::string> parity = ties_by_rule("parity", spec.sides);
  for (std::size_t d = 0; d < ties.size(); ++d)
    if (ring_loads(spec.sides[d], parity[d]).most() < ring_loads(spec.sides[d], ties[d]).most()) ties[d] = parity[d];
  return ties;
}

/// Lower bound first, then the sum of the squared times: links that are no bottleneck count as well.
static bool is_better(const Network& x, const Network& y, const Demand& demand) {
  const Bounds of_x = lower_bounds(x, demand), of_y = lower_bounds(y, demand);
  if (of_x.seconds != of_y.seconds) return of_x.seconds < of_y.seconds;
  double sum_x = 0, sum_y = 0;
  for (Channel channel = 0; channel < x.channels(); ++channel) {
    const double load_x = static_cast<double>(of_x.load[channel]), load_y = static_cast<double>(of_y.load[channel]);
    sum_x += load_x * load_x / x.rate(channel) / x.rate(channel);
    sum_y += load_y * load_y / y.rate(channel) / y.rate(channel);
  }
  return sum_x < sum_y * (1 - tolerance);
}

Network balance_routes(const Network& network, const Demand& demand) {
  if (demand.pattern != Pattern::all_to_all) throw InputError("routes are balanced for an all-to-all only");
  NetworkSpec spec = network.spec();
  if (spec.shape == Shape::torus) {
    spec.ties = balanced_ties(spec);
  } else if (spec.shape == Shape::graph) {
    if (!can_be_balanced(spec)) throw InputError("a graph of this size is too large to balance");
    spec.next_hops = forwarding_entries(spec, balanced_next_hops(spec));
  } else {
    throw InputError("only a torus and a graph leave a choice between equally short routes");
  }
  // Without tables, and without the routes of a family, a graph has these routes already, but nothing to install.
  const bool has_them = network.shape() == Shape::graph && network.spec().next_hops.empty() &&
                        network.fat_tree() == nullptr && network.dragonfly() == nullptr;
  Network balanced = Network::with_routes(std::move(spec));
  return has_them || is_better(balanced, network, demand) ? balanced : network;
}

}  // namespace hocket
