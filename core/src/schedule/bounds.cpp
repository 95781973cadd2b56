#include "hocket/schedule/bounds.hpp"

#include <algorithm>

#include "hocket/schedule/gather_bounds.hpp"

namespace hocket {
namespace {

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

std::vector<std::uint64_t> route_loads(const Network& network) {
  std::vector<std::uint64_t> load(network.channels(), 0);
  std::vector<Channel> route;
  for (Rank src = 0; src < network.ranks(); ++src)
    for (Rank dst = 0; dst < network.ranks(); ++dst) {
      if (src == dst) continue;
      route.clear();
      network.append_route(src, dst, route);
      for (const Channel channel : route) ++load[channel];
    }
  return load;
}

Bounds all_to_all_bounds(const Network& network, const Demand& demand) {
  Bounds bounds;
  bounds.load = network.tree() != nullptr ? tree_loads(network, *network.tree()) : route_loads(network);
  bounds.phases = demand.ranks > 0 ? demand.ranks - 1 : 0;  // one-port: one send per rank and phase
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

}  // namespace

Bounds lower_bounds(const Network& network, const Demand& demand) {
  return demand.pattern == Pattern::all_gather ? all_gather_bounds(network, demand)
                                               : all_to_all_bounds(network, demand);
}

}  // namespace hocket
