#include "core/algorithms/all_to_all/resources.hpp"

#include <algorithm>
#include <bit>

#include "core/algorithms/shared/edge_colours.hpp"

namespace hocket::algorithms {

SendPools::SendPools(const Network& network, bool pooled) : of_(network.ranks()) {
  const NetworkSpec& spec = network.spec();
  std::vector<Node> neighbour(network.nodes());
  std::vector<std::uint32_t> links(network.nodes(), 0);
  for (const LinkSpec& link : spec.links) {
    neighbour[link.a] = link.b, neighbour[link.b] = link.a;
    ++links[link.a], ++links[link.b];
  }
  const bool by_destination = network.shape() == Shape::graph || network.shape() == Shape::tree;
  constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> pool_at(network.nodes(), none);
  for (Rank rank = 0; rank < network.ranks(); ++rank) {
    const Node host = network.host_of(rank);
    const bool shares = pooled && by_destination && spec.ranks[host] == 1 && network.ports(rank) == 1 &&
                        links[host] == 1 && !network.is_host(neighbour[host]);
    std::uint32_t own = none;
    std::uint32_t& pool = shares ? pool_at[neighbour[host]] : own;
    if (pool == none) {
      pool = count();
      members_.emplace_back();
    }
    of_[rank] = pool;
    members_[pool].push_back(rank);
  }
}

void SendPools::deal(std::uint64_t phases, std::vector<Hop>& hops, std::vector<std::uint32_t>& phase_of) const {
  std::vector<std::vector<std::uint32_t>> sent(count());
  for (std::uint32_t i = 0; i < hops.size(); ++i) sent[of_[hops[i].src]].push_back(i);
  BipartiteGraph graph;
  graph.vertices = static_cast<std::uint32_t>(phases + of_.size());
  for (std::uint32_t pool = 0; pool < count(); ++pool) {
    if (members_[pool].size() == 1) continue;
    graph.degree = static_cast<std::uint32_t>(members_[pool].size());
    graph.edges.clear();
    for (const std::uint32_t i : sent[pool])
      graph.edges.push_back({{phase_of[i], static_cast<std::uint32_t>(phases + hops[i].dst)}});
    EdgeColours colours(graph);
    for (std::uint32_t edge = 0; edge < graph.edges.size(); ++edge) colours.add(edge);
    for (std::uint32_t edge = 0; edge < graph.edges.size(); ++edge)
      hops[sent[pool][edge]].src = members_[pool][colours.colour_of()[edge]];
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < hops.size(); ++i)
    if (hops[i].src != hops[i].dst) hops[kept] = hops[i], phase_of[kept++] = phase_of[i];
  hops.resize(kept);
  phase_of.resize(kept);
}

namespace {

/// Per channel: the ranks seen on it, one bit each.
class RankSets {
 public:
  RankSets(std::uint64_t sets, std::uint64_t ranks) : words_((ranks + 63) / 64), bits_(sets * words_, 0) {}
  void add(std::uint64_t set, Rank rank) { bits_[set * words_ + rank / 64] |= std::uint64_t{1} << rank % 64; }
  /// The ports of the ranks in the set.
  [[nodiscard]] std::uint64_t count(std::uint64_t set, const Network& network) const {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < words_; ++i)
      for (std::uint64_t left = bits_[set * words_ + i]; left != 0; left &= left - 1)
        sum += network.ports(static_cast<Rank>(64 * i) + static_cast<Rank>(std::countr_zero(left)));
    return sum;
  }

 private:
  std::uint64_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace

Resources::Resources(const Network& network, const SendPools& pools, std::span<const Hop> hops)
    : network_(network), pools_(pools) {
  const std::uint64_t ranks = network.ranks(), channels = network.channels();
  RankSets senders(channels, ranks), receivers(channels, ranks);
  std::vector<std::uint64_t> used(2 * ranks + channels, 0);
  for (const Hop hop : hops) {
    network.find_route(hop.src, hop.dst, route_);
    ++used[pools.of(hop.src)];
    ++used[ranks + hop.dst];
    for (const Channel channel : route_) {
      senders.add(channel, hop.src);
      receivers.add(channel, hop.dst);
      ++used[2 * ranks + channel];
    }
  }
  number_.assign(used.size(), never_full);
  for (std::uint64_t i = 0; i < used.size(); ++i) {
    const std::uint64_t channel = i - 2 * ranks;
    if (i >= pools.count() && i < ranks) continue;
    std::uint32_t capacity = 0;
    if (i < ranks)
      for (const Rank rank : pools.members(static_cast<std::uint32_t>(i))) capacity += network.ports(rank);
    else
      capacity =
          i < 2 * ranks ? network.ports(static_cast<Rank>(i - ranks)) : network.capacity(static_cast<Channel>(channel));
    if (i >= 2 * ranks &&
        (senders.count(channel, network) <= capacity || receivers.count(channel, network) <= capacity))
      continue;
    number_[i] = size();
    capacity_.push_back(capacity);
    load_.push_back(used[i]);
  }
}

void Resources::append(Hop hop, std::vector<std::uint32_t>& needs) const {
  const std::uint64_t ranks = network_.ranks();
  needs.push_back(number_[pools_.of(hop.src)]);
  for (const Channel channel : network_.find_route(hop.src, hop.dst, route_))
    if (number_[2 * ranks + channel] != never_full) needs.push_back(number_[2 * ranks + channel]);
  needs.push_back(number_[ranks + hop.dst]);
}

}  // namespace hocket::algorithms
