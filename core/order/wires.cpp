#include "core/order/wires.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hocket::order {

void Wires::add(Rank src, Rank dst, double bytes) {
  route_.clear();
  network_.append_route(src, dst, route_);
  for (const Channel channel : route_) {
    if (load_[channel] == 0) used_.push_back(channel);
    load_[channel] += bytes;
  }
}

Busiest Wires::taken() {
  Busiest most;
  for (const Channel channel : used_) {
    const double seconds = load_[channel] / network_.rate(channel);
    if (seconds > most.seconds || (seconds == most.seconds && channel < most.channel)) most = {seconds, channel};
    load_[channel] = 0;
  }
  used_.clear();
  return most;
}

Busiest Wires::of_form(const NativeStep& form, std::span<const Rank> place) {
  const auto [at, is_new] = forms_.try_emplace({form.kind, form.distance});
  if (!is_new) return at->second;
  const auto ranks = static_cast<Rank>(place.size());
  if (ranks >= network_.nodes()) {  // all channels are looked at, which is too long for a small part of a network
    ends_.clear();
    for (Rank rank = 0; rank < ranks; ++rank)
      ends_.emplace_back(network_.host_of(place[rank]), network_.host_of(place[form.partner(rank, ranks)]));
    if (network_.add_uses(ends_, load_)) {
      for (Channel channel = 0; channel < load_.size(); ++channel)
        if (load_[channel] > 0) used_.push_back(channel);
      return at->second = taken();
    }
  }
  for (Rank rank = 0; rank < ranks; ++rank) add(place[rank], place[form.partner(rank, ranks)], 1);
  return at->second = taken();
}

Busiest Wires::of_step(const Step& step, std::span<const Rank> place) {
  if (step.messages.empty()) {
    const Busiest one = of_form(step.form, place);
    return {one.seconds * step.bytes, one.channel};
  }
  for (const Message& one : step.messages) add(place[one.src], place[one.dst], static_cast<double>(one.bytes));
  return taken();
}

Busiest Wires::of_call(const Call& call, std::span<const Rank> place) {
  Busiest all, longest;
  for (const Step& one : call.steps) {
    const Busiest found = of_step(one, place);
    all.seconds += found.seconds * one.times();
    if (found.seconds > longest.seconds) longest = found;
  }
  all.channel = longest.channel;
  return all;
}

Busiest Wires::call(const Call& call, std::span<const Rank> place) {
  forms_.clear();
  return of_call(call, place);
}

double Wires::score(std::span<const Call> calls, std::span<const Rank> place) {
  forms_.clear();
  double sum = 0;
  for (const Call& one : calls) sum += one.weight * std::log(of_call(one, place).seconds);
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
