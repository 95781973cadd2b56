#include <set>
#include <utility>

#include "core/schedule/bounds.hpp"
#include "core/schedule/max_flow.hpp"

namespace hocket {
namespace {

/// Ranks in a part of the network, and the bytes that they contribute.
struct Part {
  std::uint64_t ranks = 0;
  double bytes = 0;
};

Part host_part(const Network& network, const Demand& demand, Node host) {
  Part part{network.spec().ranks[host]};
  for (const Rank rank : network.ranks_of(host)) part.bytes += static_cast<double>(demand.contribution(rank));
  return part;
}

void consider(Bounds& bounds, double seconds, Channel channel) {
  if (seconds <= bounds.seconds) return;
  bounds.seconds = seconds;
  bounds.bottleneck = channel;
}

/// Every link of a tree is a cut: what one side has must cross it once.
void tree_cuts(const Network& network, const Demand& demand, const Tree& tree, Bounds& bounds) {
  std::vector<Part> below(network.nodes());
  Part all;
  for (const Node host : network.hosts()) {
    below[host] = host_part(network, demand, host);
    all.ranks += below[host].ranks;
    all.bytes += below[host].bytes;
  }
  for (std::size_t i = tree.order.size(); i-- > 1;) {
    const Node node = tree.order[i];
    const Part part = below[node];
    const Channel up = tree.up[node];
    below[tree.parent[node]].ranks += part.ranks;
    below[tree.parent[node]].bytes += part.bytes;
    if (part.ranks == 0 || part.ranks == all.ranks) continue;
    bounds.load[up] = part.ranks;
    bounds.load[up ^ 1] = all.ranks - part.ranks;
    consider(bounds, part.bytes / network.rate(up), up);
    consider(bounds, (all.bytes - part.bytes) / network.rate(up ^ 1), up ^ 1);
  }
}

/// Bytes that each host contributes, and the sum.
struct Contributions {
  Contributions(const Network& network, const Demand& demand) : of(network.nodes(), 0) {
    for (const Node host : network.hosts()) all += of[host] = host_part(network, demand, host).bytes;
  }
  std::vector<double> of;  ///< per node
  double all = 0;
};

/// Channels into a node, or out of it: their total rate and the first of them.
struct Wires {
  double rate = 0;
  Channel first = ~Channel{0};

  void add(const Network& network, Channel channel) {
    rate += network.rate(channel);
    first = std::min(first, channel);
  }
};

/// The cuts around single hosts: what the others have must come in, what it has must go out, over
/// the last and the first channels of its routes.
void host_cuts(const Network& network, const Contributions& bytes, Bounds& bounds) {
  if (network.hosts().size() < 2) return;
  std::vector<Wires> in(network.nodes()), out(network.nodes());
  if (network.shape() == Shape::routed) {
    std::set<std::pair<Node, Channel>> known_in, known_out;
    for (const RouteSpec& route : network.spec().routes) {
      if (route.channels.empty()) return;  // no cut between these two
      const Channel first = route.channels.front(), last = route.channels.back();
      if (known_out.emplace(route.src, first).second) out[route.src].add(network, first);
      if (known_in.emplace(route.dst, last).second) in[route.dst].add(network, last);
    }
  } else {
    for (Channel channel = 0; channel < network.channels(); ++channel) {
      out[network.spec().tail(channel)].add(network, channel);
      in[network.spec().head(channel)].add(network, channel);
    }
  }
  for (const Node host : network.hosts()) {
    consider(bounds, (bytes.all - bytes.of[host]) / in[host].rate, in[host].first);
    consider(bounds, bytes.of[host] / out[host].rate, out[host].first);
  }
}

/// The cuts around all that lies within so many links of a host: every radius, as many hosts as fit
/// the work.
void ball_cuts(const Network& network, const Contributions& bytes, Bounds& bounds) {
  constexpr std::size_t most_work = 4'000'000, none = ~std::size_t{0};
  struct Ball {
    double bytes = 0, rate_in = 0, rate_out = 0;
    Channel in = 0;
  };
  const NetworkSpec& spec = network.spec();
  const Grouped leaving = leaving_channels(spec);
  const std::size_t hosts = network.hosts().size();
  const std::size_t centres = std::clamp<std::size_t>(most_work / spec.links.size(), 1, hosts);
  std::vector<std::size_t> distance(network.nodes());
  std::vector<Node> queue;
  for (std::size_t centre = 0; centre < centres; ++centre) {
    std::fill(distance.begin(), distance.end(), none);
    queue.assign(1, network.hosts()[centre * hosts / centres]);
    distance[queue.front()] = 0;
    for (std::size_t at = 0; at < queue.size(); ++at)
      for (const Channel channel : leaving.of(queue[at]))
        if (const Node to = spec.head(channel); distance[to] == none) {
          distance[to] = distance[queue[at]] + 1;
          queue.push_back(to);
        }
    std::vector<Ball> balls(distance[queue.back()] + 1);
    for (const Node node : queue) balls[distance[node]].bytes += bytes.of[node];
    for (Channel channel = 0; channel < network.channels(); ++channel) {
      const std::size_t from = distance[spec.tail(channel)], to = distance[spec.head(channel)];
      if (from == to) continue;
      Ball& ball = balls[std::min(from, to)];
      (from > to ? ball.rate_in : ball.rate_out) += network.rate(channel);
      if (from > to) ball.in = channel;
    }
    double inside = 0;
    for (std::size_t radius = 0; radius + 1 < balls.size(); ++radius) {
      const Ball& ball = balls[radius];
      inside += ball.bytes;
      consider(bounds, (bytes.all - inside) / ball.rate_in, ball.in);
      consider(bounds, inside / ball.rate_out, ball.in ^ 1);
    }
  }
}

/// All cuts: T is enough for a host if a flow in which every channel carries at most rate · T brings
/// it everything (max-flow min-cut). Where it is not, the smallest cut gives a larger T (Dinkelbach).
void flow_cuts(const Network& network, const Contributions& bytes, std::span<const Node> targets, Bounds& bounds) {
  const Node source = network.nodes();
  flow::MaxFlow flow(source + 1);
  const NetworkSpec& spec = network.spec();
  for (Channel channel = 0; channel < network.channels(); ++channel)
    flow.add_arc(spec.tail(channel), spec.head(channel));
  for (const Node host : network.hosts()) flow.add_arc(source, host);
  for (const Node target : targets) {
    const double wanted = bytes.all - bytes.of[target];
    for (int round = 0; round < 64 && wanted > 0; ++round) {
      for (Channel channel = 0; channel < network.channels(); ++channel)
        flow.set(2 * channel, network.rate(channel) * bounds.seconds);
      for (std::size_t i = 0; i < network.hosts().size(); ++i)
        flow.set(2 * (network.channels() + static_cast<Channel>(i)),
                 network.hosts()[i] == target ? 0 : bytes.of[network.hosts()[i]]);
      if (flow.run(source, target, wanted * 1e-12) >= wanted * (1 - 1e-9)) break;
      double held = 0, rate = 0;
      Channel narrowest = 0;
      for (const Node host : network.hosts())
        if (flow.before_cut(host)) held += bytes.of[host];
      for (Channel channel = 0; channel < network.channels(); ++channel) {
        if (!flow.before_cut(spec.tail(channel)) || flow.before_cut(spec.head(channel))) continue;
        if (rate == 0 || network.rate(channel) < network.rate(narrowest)) narrowest = channel;
        rate += network.rate(channel);
      }
      const double before = bounds.seconds;
      consider(bounds, held / rate, narrowest);
      if (bounds.seconds <= before * (1 + 1e-12)) break;
    }
  }
}

void general_cuts(const Network& network, const Demand& demand, Bounds& bounds) {
  constexpr std::uint64_t most_work = 1u << 20;  // targets × channels of exact cuts
  const Contributions bytes(network, demand);
  host_cuts(network, bytes, bounds);
  if (network.shape() == Shape::routed || network.hosts().size() < 2) return;
  std::vector<Node> targets(network.hosts().begin(), network.hosts().end());
  const bool uniform = demand.contributions.empty() && network.equal_rates() && network.ranks_per_host() > 0;
  const bool grid = network.shape() != Shape::graph;
  if (grid && uniform) targets.resize(1);  // all hosts of a torus are equal; the first of a mesh is a corner
  if (std::uint64_t{targets.size()} * network.channels() <= most_work)
    flow_cuts(network, bytes, targets, bounds);
  else
    ball_cuts(network, bytes, bounds);
}

/// The most messages that a rank can send at once where ports do not count: one per rank beside it and per link of its
/// host, or as many on a link as go beside each other if they are as slow as the slowest channel.
std::uint64_t sends_at_once(const Network& network) {
  if (network.ranks() < 2) return 1;
  const NetworkSpec& spec = network.spec();
  if (spec.links.empty()) return network.ranks() - 1;  // explicit routes do not say where a channel begins
  double slowest = spec.links.front().rate;
  for (const LinkSpec& link : spec.links) slowest = std::min(slowest, link.rate);
  std::vector<std::uint64_t> links(network.nodes(), 0);
  for (const LinkSpec& link : spec.links) {
    const auto beside = static_cast<std::uint64_t>(link.rate / slowest * (1 + 1e-9));
    links[link.a] += beside;
    links[link.b] += beside;
  }
  std::uint64_t most = 0;
  for (const Node host : network.hosts()) most = std::max(most, links[host] + spec.ranks[host] - 1);
  return most;
}

}  // namespace

std::uint64_t fewest_phases(const Network& network, PortModel ports) {
  std::uint64_t growth = 1 + sends_at_once(network);
  if (ports == PortModel::one_port) {
    growth = 2;
    for (const std::uint32_t number : network.spec().ports) growth = std::max<std::uint64_t>(growth, 1 + number);
  }
  std::uint64_t phases = 0;
  for (std::uint64_t known = 1; known < network.ranks(); known *= growth) ++phases;
  return phases;
}

Bounds all_gather_bounds(const Network& network, const Demand& demand) {
  if (demand.ranks != network.ranks()) throw InputError("demand and network differ in the number of ranks");
  Bounds bounds;
  bounds.load.assign(network.channels(), 0);
  bounds.phases = fewest_phases(network, PortModel::all_port);
  if (network.tree() != nullptr)
    tree_cuts(network, demand, *network.tree(), bounds);
  else
    general_cuts(network, demand, bounds);
  return bounds;
}

}  // namespace hocket
