#include <cmath>
#include <tuple>

#include "core/error.hpp"
#include "core/order/order.hpp"

namespace hocket::order {

constexpr std::size_t most_steps = 48;  ///< doubling up to 2^22 ranks, there and back, has 44
constexpr std::size_t least_kept = 4, most_kept = 24;
constexpr std::size_t messages_kept = 400'000;  ///< of an algorithm with more steps than most_steps

std::vector<const LibraryCall*> made_of_steps(Pattern pattern, Rank ranks, std::optional<std::uint64_t> block) {
  std::vector<const LibraryCall*> found;
  for (const LibraryCall& one : library_calls())
    if (one.pattern == pattern && one.steps != nullptr && (ranks < 2 || !one.steps(ranks).empty()) &&
        (!block || one.most_bytes == nullptr || *block <= one.most_bytes(ranks)))
      found.push_back(&one);
  return found;
}

Call native_call(const LibraryCall& algorithm, Rank ranks, double block, double weight) {
  const std::string name(algorithm.name);
  const std::vector<NativeStep> all = algorithm.steps == nullptr ? std::vector<NativeStep>{} : algorithm.steps(ranks);
  if (all.empty() && ranks > 1) throw InputError(name + " does not serve " + std::to_string(ranks) + " ranks");
  Call call{{}, weight};
  const std::size_t some = std::clamp(messages_kept / std::max<std::size_t>(ranks, 1), least_kept, most_kept);
  const std::size_t kept = all.size() <= most_steps ? all.size() : some;
  for (std::size_t i = 0; i < kept; ++i) {
    NativeStep form = all[(2 * i + 1) * all.size() / (2 * kept)];
    form.times *= static_cast<double>(all.size()) / static_cast<double>(kept);
    call.steps.push_back({form, form.blocks * block, {}});
  }
  return call;
}

Call demand_call(const Demand& demand, double weight) {
  if (!demand.by_matrix()) throw InputError("only an irregular demand is a list of messages");
  Call call{{}, weight};
  if (demand.matrix.messages() > 0) call.steps.push_back({{}, 0, demand.matrix.list()});
  return call;
}

UnitGraph graph_of(const Units& units, std::span<const Call> calls) {
  std::vector<Unit> unit_of;
  for (Unit unit = 0; unit < units.size(); ++unit)
    for (const Rank rank : units.ranks[unit]) {
      if (rank >= unit_of.size()) unit_of.resize(rank + 1);
      unit_of[rank] = unit;
    }
  std::vector<std::tuple<Unit, Unit, double>> pairs;
  for (const Call& call : calls)
    for (const Step& step : call.steps)
      for (const Message& one : step.messages) {
        const Unit a = unit_of[one.src], b = unit_of[one.dst];
        if (a == b) continue;
        const double bytes = static_cast<double>(one.bytes) * call.weight;
        pairs.emplace_back(a, b, bytes);
        pairs.emplace_back(b, a, bytes);
      }
  std::ranges::sort(pairs);
  UnitGraph graph;
  std::size_t i = 0;
  for (Unit unit = 0; unit < units.size(); ++unit) {
    while (i < pairs.size() && std::get<0>(pairs[i]) == unit) {
      const auto [from, to, bytes] = pairs[i++];
      if (graph.edges.size() > graph.begin.back() && graph.edges.back().to == to)
        graph.edges.back().bytes += bytes;
      else
        graph.edges.push_back({to, bytes});
    }
    graph.begin.push_back(graph.edges.size());
  }
  return graph;
}

void Wires::add(Rank src, Rank dst, double bytes) {
  for (const Channel channel : network_.find_route(src, dst, route_)) {
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
