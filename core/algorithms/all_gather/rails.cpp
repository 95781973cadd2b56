/// "rails": all-gather over several rings of hosts at once, each with its part of every contribution.
///
/// The multi-rail ring: k rings of hosts that share no channel, each in both directions, carry 1/(2k)
/// of every contribution. On tori and hypercubes with an even number of dimensions all links are busy
/// all the time, which meets the bound (N − 1)·m / (2k · rate).
#include <algorithm>

#include "core/algorithms/all_gather/ring_form.hpp"
#include "core/algorithms/all_gather/streams.hpp"
#include "core/algorithms/registry.hpp"
#include "core/schedule/bounds.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::uint64_t most_sends = 40'000'000;

/// A ring of hosts in either direction; the ranks of a host follow each other, and are a ring of
/// their own if `closed`.
void add_rail(Streams& streams, const Network& network, std::vector<Node> hosts, bool reverse, bool closed) {
  if (reverse) std::reverse(hosts.begin(), hosts.end());
  std::vector<Rank> order;
  std::vector<Places> rings;
  for (const Node host : hosts) {
    const auto begin = static_cast<std::uint32_t>(order.size());
    for (std::uint32_t i = 0; i < network.spec().ranks[host]; ++i) order.push_back(network.first_rank(host) + i);
    if (closed && order.size() > begin + 1) rings.push_back({begin, static_cast<std::uint32_t>(order.size())});
  }
  add_ring(streams, order, rings);
}

/// True if all rails can run at full speed at once: then the phase of a send is the way its part has
/// come, and nothing need be searched.
bool in_step(const Network& network, const Demand& demand, const Streams& streams) {
  if (!demand.contributions.empty() || network.hosts().size() != demand.ranks || !network.equal_rates()) return false;
  std::vector<std::uint32_t> uses(network.channels(), 0);
  std::vector<Channel> route;
  for (const StreamEdge& edge : streams.edges) {
    for (const Channel channel : network.find_route(edge.src, edge.dst, route))
      if (++uses[channel] > 1) return false;
  }
  return demand.bytes >= streams.place.size();
}

Schedule schedule_in_step(const Demand& demand, const Streams& streams) {
  const auto rails = static_cast<std::uint32_t>(streams.place.size());
  const std::uint32_t n = demand.ranks;
  std::vector<std::vector<Rank>> order(rails, std::vector<Rank>(n));
  for (std::uint32_t rail = 0; rail < rails; ++rail)
    for (Rank rank = 0; rank < n; ++rank) order[rail][streams.place[rail][rank]] = rank;
  std::vector<Piece> part;  // per rail: its part of every contribution
  for (const Chunk& chunk : streams.chunks)
    if (chunk.origin == 0) part.push_back({0, everyone, chunk.offset, chunk.length});
  const std::uint64_t sends = std::uint64_t{n} * (n - 1) * rails;
  std::vector<std::uint64_t> begin{0};
  std::vector<Hop> hops;
  PieceLists pieces;
  hops.reserve(sends);
  for (const Piece& share : part)
    for (Rank origin = 0; origin < n; ++origin) {
      pieces.pieces.push_back({origin, everyone, share.offset, share.length});
      pieces.end_list();
    }
  pieces.list.reserve(sends);
  for (std::uint32_t phase = 0; phase + 1 < n; ++phase) {
    for (std::uint32_t rail = 0; rail < rails; ++rail)
      for (std::uint32_t at = 0; at < n; ++at) {
        hops.push_back({order[rail][at], order[rail][at + 1 < n ? at + 1 : 0]});
        pieces.list.push_back(rail * n + order[rail][at >= phase ? at - phase : at + n - phase]);
      }
    begin.push_back(hops.size());
  }
  return {n, demand.bytes, std::move(begin), std::move(hops), std::move(pieces)};
}

}  // namespace

Streams host_rails(const Network& network, const Demand& demand, StreamLoad& load) {
  std::vector<std::vector<Node>> cycles = grid_cycles(network);
  const std::uint64_t most_rails = most_sends / std::max<std::uint64_t>(demand.messages(), 1);
  cycles.resize(std::min<std::size_t>(cycles.size(), std::max<std::uint64_t>(most_rails / 2, 1)));
  const std::size_t known = cycles.size();
  if (known == 0) cycles.push_back(host_ring(network));
  Streams best;
  for (const bool closed : {false, true}) {
    if (closed && network.hosts().size() == demand.ranks) break;
    for (const bool both : {false, true}) {
      if (both ? most_rails < 2 : known > 0 && most_rails > 1) continue;
      Streams streams;
      for (const auto& cycle : cycles)
        for (const bool reverse : {false, true})
          if (both || !reverse) add_rail(streams, network, cycle, reverse, closed);
      const StreamLoad other = stream_load(network, demand, streams, PortModel::all_port);
      if (!best.place.empty() && other.seconds >= load.seconds * (1 - 1e-9)) continue;
      best = std::move(streams);
      load = other;
    }
  }
  return best;
}

static std::string_view rails_refuses(const Network&, const Demand& demand) {
  return demand.messages() <= most_sends ? "" : "too many sends for one schedule";
}

static Schedule make_rails(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  StreamLoad load;
  Streams streams = host_rails(network, demand, load);
  const auto rails = static_cast<std::uint32_t>(streams.place.size());
  streams.chunks = split_contributions(demand, rails, std::max(network.host_rate(), 1.0), costs);
  if (in_step(network, demand, streams)) return schedule_in_step(demand, streams);
  return schedule_streams(network, demand, streams, PortModel::all_port, costs);
}

constinit const Algorithm rails{
    .pattern = Pattern::all_gather,
    .name = "rails",
    .summary = "several rings of hosts at once, each with a part of every contribution",
    .source = "own; Hamiltonian decompositions of tori: Kotzig",
    .contention_free = true,
    .ports = PortModel::all_port,
    .refuses = rails_refuses,
    .make = make_rails,
    .rank = 7,
};

}  // namespace hocket::algorithms
