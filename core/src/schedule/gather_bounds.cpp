#include "hocket/schedule/gather_bounds.hpp"

#include <algorithm>

namespace hocket {
namespace {

/// What the ranks of a part of the network contribute.
struct Part {
  std::uint64_t ranks = 0;
  double bytes = 0;
};

Part host_part(const Network& network, const Demand& demand, Node host) {
  Part part;
  for (std::uint32_t i = 0; i < network.spec().ranks[host]; ++i, ++part.ranks)
    part.bytes += static_cast<double>(demand.contribution(network.first_rank(host) + i));
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

}  // namespace

Bounds all_gather_bounds(const Network& network, const Demand& demand) {
  if (demand.ranks != network.ranks()) throw InputError("demand and network differ in the number of ranks");
  Bounds bounds;
  bounds.load.assign(network.channels(), 0);
  if (network.tree() != nullptr) tree_cuts(network, demand, *network.tree(), bounds);
  std::uint64_t known = 1;
  while (known < network.ranks()) {
    known *= 2;
    ++bounds.phases;
  }
  return bounds;
}

}  // namespace hocket
