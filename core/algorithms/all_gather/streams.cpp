/// Streams of chunks along edges: rings, chunks, loads.
#include "core/algorithms/all_gather/streams.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hocket::algorithms {
namespace {

constexpr std::uint64_t most_chunk_sends = 40'000'000;  // beyond, chunks grow
constexpr double smallest_chunk = 1024;                 // bytes: less is all header

}  // namespace

void add_ring(Streams& streams, std::span<const Rank> order, std::span<const Places> closed) {
  const auto rail = static_cast<std::uint32_t>(streams.place.size());
  const auto n = static_cast<std::uint32_t>(order.size());
  auto& place = streams.place.emplace_back(n, 0);
  for (std::uint32_t i = 0; i < n; ++i) place[order[i]] = i;
  const Places all{0, n};
  std::vector<std::vector<Places>> starting(n);  // per place: the rings that begin there, smallest first
  for (const Places& ring : closed)
    if (ring.size() > 1 && ring != all) starting[ring.begin].push_back(ring);
  if (n > 1) starting[0].push_back(all);
  for (std::uint32_t at = 0; at < n; ++at) {
    auto& rings = starting[at];
    std::sort(rings.begin(), rings.end(), [](Places x, Places y) { return x.end < y.end; });
    rings.erase(std::unique(rings.begin(), rings.end()), rings.end());
    Places inner{at, at + 1};
    for (const Places& ring : rings) {
      streams.edges.push_back({order[ring.end - 1], order[at], rail, ring, inner});
      inner = ring;
    }
    if (at > 0) streams.edges.push_back({order[at - 1], order[at], rail, all, inner});
  }
}

std::vector<Chunk> split_contributions(const Demand& demand, std::uint32_t rails, double rate,
                                       const AlgorithmOptions& costs, std::uint32_t finer) {
  const auto [all, largest, unequal] = Contributions(demand);
  const double n = demand.ranks;
  // A ring of n is filled after n chunks: of 32 n they cost 1/32 more than the bound. With per-message cost α,
  // (all / c + n)·(α + c / rate) is least at c = √(all·α·rate / n).
  double chunk = largest / rails + 1;
  if (unequal) {
    const double pipelined = std::max({all / (32 * n), std::sqrt(all * costs.alpha * rate / n), smallest_chunk});
    const double affordable = n * all / std::max(1.0, static_cast<double>(most_chunk_sends) - n * n * rails);
    chunk = std::min(chunk, std::max(pipelined, affordable) / rails);
  }
  if (finer > 1) chunk = std::min(chunk, std::max({largest / (rails * finer), smallest_chunk, costs.alpha * rate}));
  return cut_contributions(demand, rails, chunk);
}

std::vector<Chunk> cut_contributions(const Demand& demand, std::uint32_t rails, double longest) {
  std::vector<Chunk> chunks;
  for (Rank rank = 0; rank < demand.ranks; ++rank) {
    const std::uint64_t bytes = demand.contribution(rank);
    for (std::uint32_t rail = 0; rail < rails; ++rail) {
      const std::uint64_t begin = part_begin(bytes, rail, rails), end = part_begin(bytes, rail + 1, rails);
      const auto parts = static_cast<std::uint64_t>(std::ceil(static_cast<double>(end - begin) / longest));
      for (std::uint64_t part = 0; part < parts; ++part) {
        const std::uint64_t from = begin + part_begin(end - begin, part, parts),
                            to = begin + part_begin(end - begin, part + 1, parts);
        if (to > from) chunks.push_back({rank, rail, from, to - from});
      }
    }
  }
  return chunks;
}

StreamLoad stream_load(const Network& network, const Demand& demand, const Streams& streams, PortModel ports) {
  const double rails = static_cast<double>(streams.place.size());
  std::vector<std::vector<double>> before(streams.place.size(), std::vector<double>(demand.ranks + 1, 0));
  for (std::size_t rail = 0; rail < streams.place.size(); ++rail) {
    for (Rank rank = 0; rank < demand.ranks; ++rank)
      before[rail][streams.place[rail][rank] + 1] = static_cast<double>(demand.contribution(rank)) / rails;
    std::partial_sum(before[rail].begin(), before[rail].end(), before[rail].begin());
  }
  std::vector<double> busy(network.channels() + 2 * std::size_t{demand.ranks}, 0);  // channels, then ports
  StreamLoad load;
  std::vector<double> sent(demand.ranks, 0);
  std::vector<Channel> route;
  for (const StreamEdge& edge : streams.edges) {
    const auto& sums = before[edge.rail];
    const Places outer = edge.outer, inner = edge.inner;
    const double carried = sums[outer.end] - sums[outer.begin] - (sums[inner.end] - sums[inner.begin]);
    sent[edge.src] += carried;
    network.find_route(edge.src, edge.dst, route);
    double rate = memory_speed * network.host_rate();
    for (const Channel channel : route) {
      rate = std::min(rate, network.rate(channel));
      busy[channel] += carried / network.rate(channel);
    }
    if (ports == PortModel::all_port || rate <= 0) continue;
    busy[network.channels() + edge.src] += carried / rate;
    busy[network.channels() + demand.ranks + edge.dst] += carried / rate;
  }
  for (const double seconds : busy) load.seconds = std::max(load.seconds, seconds);
  for (const double bytes : sent) load.sent = std::max(load.sent, bytes);
  if (load.seconds <= 0) return load;
  for (const double seconds : busy) {
    const double share = seconds / load.seconds;
    load.mean += share * share * share * share / static_cast<double>(busy.size());
  }
  return load;
}

}  // namespace hocket::algorithms
