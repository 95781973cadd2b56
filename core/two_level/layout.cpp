#include "core/two_level/layout.hpp"

namespace hocket {

TwoLevelLayout::TwoLevelLayout(const HostGroups& groups, const Demand& demand)
    : demand_(&demand),
      hosts_(groups.count()),
      bytes_(hosts_ * hosts_, 0),
      out_(hosts_ * hosts_),
      in_(hosts_ * hosts_),
      memory_(hosts_) {
  if (demand.by_matrix())
    demand.matrix.each([&](Rank src, Rank dst, std::uint64_t bytes) {
      bytes_[groups.host_of[src] * hosts_ + groups.host_of[dst]] += bytes;
    });
  else
    for (std::size_t src = 0; src < hosts_; ++src)
      for (std::size_t dst = 0; dst < hosts_; ++dst)
        bytes_[src * hosts_ + dst] = groups.ranks[src].size() * groups.ranks[dst].size() * demand.bytes;
  const std::vector<std::size_t> order = groups.by_leader();
  for (std::size_t here = 0; here < hosts_; ++here) {
    std::uint64_t at = 0;
    for (const std::size_t there : order) {
      out_[here * hosts_ + there] = at;
      at += bytes(here, there);
    }
    for (const std::size_t there : order) {
      in_[here * hosts_ + there] = at;
      at += bytes(there, here);
    }
    memory_[here] = at;
  }
}

GatherLayout::GatherLayout(const HostGroups& groups, const Demand& demand)
    : of_rank(demand.ranks), of_host(groups.count()), host_bytes(groups.count()) {
  for (const std::size_t host : groups.by_leader()) {
    of_host[host] = memory;
    for (const Rank rank : groups.ranks[host]) {
      of_rank[rank] = memory;
      memory += demand.contribution(rank);
    }
    host_bytes[host] = memory - of_host[host];
  }
}

}  // namespace hocket
