#include "core/algorithms/all_to_all/send_pools.hpp"

#include <algorithm>

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

}  // namespace hocket::algorithms
