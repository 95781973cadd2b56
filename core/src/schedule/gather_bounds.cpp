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

/// The channels that leave and enter each host.
struct Ports {
  std::vector<Channel> out, in;
};

std::vector<Ports> host_ports(const Network& network) {
  std::vector<Ports> ports(network.nodes());
  const NetworkSpec& spec = network.spec();
  for (std::size_t i = 0; i < spec.links.size(); ++i) {
    const auto there = static_cast<Channel>(2 * i), back = static_cast<Channel>(2 * i + 1);
    ports[spec.links[i].a].out.push_back(there);
    ports[spec.links[i].a].in.push_back(back);
    ports[spec.links[i].b].out.push_back(back);
    ports[spec.links[i].b].in.push_back(there);
  }
  for (const RouteSpec& route : spec.routes) {  // explicit routes alone say where a channel begins
    if (route.channels.empty()) continue;
    ports[route.src].out.push_back(route.channels.front());
    ports[route.dst].in.push_back(route.channels.back());
  }
  for (Ports& port : ports)
    for (auto* channels : {&port.out, &port.in}) {
      std::sort(channels->begin(), channels->end());
      channels->erase(std::unique(channels->begin(), channels->end()), channels->end());
    }
  return ports;
}

/// What a host has must leave it once, what it lacks must come in, over all its channels together.
void host_cuts(const Network& network, const Demand& demand, Bounds& bounds) {
  double all = 0;
  for (Rank rank = 0; rank < demand.ranks; ++rank) all += static_cast<double>(demand.contribution(rank));
  const std::vector<Ports> ports = host_ports(network);
  const auto cross = [&](double bytes, const std::vector<Channel>& channels) {
    double rate = 0;
    for (const Channel channel : channels) rate += network.rate(channel);
    if (rate > 0) consider(bounds, bytes / rate, channels.front());
  };
  for (const Node host : network.hosts()) {
    const Part part = host_part(network, demand, host);
    if (part.ranks == demand.ranks) continue;
    cross(part.bytes, ports[host].out);
    cross(all - part.bytes, ports[host].in);
  }
}

}  // namespace

Bounds all_gather_bounds(const Network& network, const Demand& demand) {
  if (demand.ranks != network.ranks()) throw InputError("demand and network differ in the number of ranks");
  Bounds bounds;
  bounds.load.assign(network.channels(), 0);
  if (network.tree() != nullptr)
    tree_cuts(network, demand, *network.tree(), bounds);
  else
    host_cuts(network, demand, bounds);
  std::uint64_t known = 1;
  while (known < network.ranks()) {
    known *= 2;
    ++bounds.phases;
  }
  return bounds;
}

}  // namespace hocket
