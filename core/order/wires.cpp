#include "core/order/wires.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hocket::order {

Busiest Wires::step(const Step& step, std::span<const Rank> place) {
  Busiest most;
  step.each(static_cast<Rank>(place.size()), [&](Rank src, Rank dst, double bytes) {
    route_.clear();
    network_.append_route(place[src], place[dst], route_);
    for (const Channel channel : route_) {
      if (load_[channel] == 0) used_.push_back(channel);
      load_[channel] += bytes;
    }
  });
  for (const Channel channel : used_) {
    const double seconds = load_[channel] / network_.rate(channel);
    if (seconds > most.seconds || (seconds == most.seconds && channel < most.channel)) most = {seconds, channel};
    load_[channel] = 0;
  }
  used_.clear();
  return most;
}

Busiest Wires::call(const Call& call, std::span<const Rank> place) {
  Busiest all, longest;
  for (const Step& one : call.steps) {
    const Busiest found = step(one, place);
    all.seconds += found.seconds * one.times();
    if (found.seconds > longest.seconds) longest = found;
  }
  all.channel = longest.channel;
  return all;
}

double Wires::score(std::span<const Call> calls, std::span<const Rank> place) {
  double sum = 0;
  for (const Call& one : calls) sum += one.weight * std::log(call(one, place).seconds);
  return sum;
}

double least_ring_step(const Network& network, double bytes) {
  if (network.hosts().size() < 2) return 0;
  double least = 0;
  if (const Tree* tree = network.tree()) {
    std::vector<std::uint64_t> below(network.nodes(), 0);
    for (const Node host : network.hosts()) below[host] = 1;
    for (std::size_t i = tree->order.size(); i-- > 1;) below[tree->parent[tree->order[i]]] += below[tree->order[i]];
    for (std::size_t i = 1; i < tree->order.size(); ++i) {
      const Node node = tree->order[i];
      if (below[node] == 0 || below[node] == network.hosts().size()) continue;
      const Channel up = tree->up[node];
      least = std::max(least, bytes / std::min(network.rate(up), network.rate(up ^ 1)));
    }
    return least;
  }
  if (network.shape() == Shape::routed) return bytes / network.host_rate();
  std::vector<double> fastest(network.nodes(), 0);
  const auto& links = network.spec().links;
  for (std::size_t i = 0; i < links.size(); ++i)
    for (const Node end : {links[i].a, links[i].b})
      fastest[end] = std::max(fastest[end], network.rate(static_cast<Channel>(2 * i)));
  for (const Node host : network.hosts()) least = std::max(least, bytes / fastest[host]);
  return least;
}

}  // namespace hocket::order
