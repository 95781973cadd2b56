#include "runtime/two_level/hosts.hpp"

#include <algorithm>

namespace hocket::runtime {

Hosts hosts_of(const Numbering& numbering, std::size_t rank) {
  Hosts hosts;
  hosts.together = numbering.comm_rank.size();
  hosts.host_of.resize(hosts.together);
  std::size_t next = 0;
  for (const std::uint32_t ranks : numbering.ranks_per_node) {
    if (ranks == 0) continue;
    std::vector<Rank>& here = hosts.ranks.emplace_back();
    for (std::uint32_t place = 0; place < ranks; ++place) {
      const auto of_comm = static_cast<std::size_t>(numbering.comm_rank[next++]);
      hosts.host_of[of_comm] = hosts.ranks.size() - 1;
      if (of_comm == rank) hosts.host = hosts.ranks.size() - 1, hosts.local = place;
      here.push_back(static_cast<Rank>(of_comm));
    }
    hosts.most = std::max(hosts.most, here.size());
    hosts.fewest = hosts.ranks.size() == 1 ? here.size() : std::min(hosts.fewest, here.size());
  }
  return hosts;
}

std::vector<Carriage> carriages_of(const Hosts& hosts) {
  std::vector<Carriage> carried;
  if (hosts.local >= hosts.fewest) return carried;
  for (std::size_t distance = 1 + hosts.local; distance < hosts.count(); distance += hosts.fewest) {
    const std::size_t to = (hosts.host + distance) % hosts.count();
    const std::size_t from = (hosts.host + hosts.count() - distance) % hosts.count();
    carried.push_back({to, from, hosts.ranks[to][hosts.local], hosts.ranks[from][hosts.local]});
  }
  return carried;
}

Numbering leaders_of(const Numbering& numbering) {
  Numbering leaders;
  leaders.network_rank.resize(numbering.network_rank.size());
  std::size_t next = 0;
  for (const std::uint32_t ranks : numbering.ranks_per_node) {
    leaders.ranks_per_node.push_back(std::min(ranks, 1U));
    for (std::uint32_t place = 0; place < ranks; ++place)
      leaders.network_rank[static_cast<std::size_t>(numbering.comm_rank[next + place])] =
          static_cast<Rank>(leaders.comm_rank.size());
    if (ranks > 0) leaders.comm_rank.push_back(numbering.comm_rank[next]);
    next += ranks;
  }
  return leaders;
}

}  // namespace hocket::runtime
