#include <algorithm>
#include <map>
#include <numeric>

#include "core/network/routing.hpp"
#include "core/two_level/exchange.hpp"

namespace hocket {

std::size_t HostGroups::most() const {
  std::size_t found = 0;
  for (const auto& here : ranks) found = std::max(found, here.size());
  return found;
}

std::vector<std::size_t> HostGroups::by_leader() const {
  std::vector<std::size_t> order(count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t host) { return leader(host); });
  return order;
}

HostGroups group_by_host(std::span<const std::uint32_t> host_of) {
  std::map<std::uint32_t, std::vector<Rank>> by_number;
  for (Rank rank = 0; rank < host_of.size(); ++rank) by_number[host_of[rank]].push_back(rank);
  HostGroups groups;
  groups.host_of.resize(host_of.size());
  groups.local_of.resize(host_of.size());
  for (auto& [number, here] : by_number) {
    for (std::uint32_t local = 0; local < here.size(); ++local) {
      groups.host_of[here[local]] = static_cast<std::uint32_t>(groups.ranks.size());
      groups.local_of[here[local]] = local;
    }
    groups.ranks.push_back(std::move(here));
  }
  return groups;
}

HostGroups groups_of(const Network& network) {
  std::vector<std::uint32_t> place(network.nodes(), 0);
  for (std::uint32_t host = 0; host < network.hosts().size(); ++host) place[network.hosts()[host]] = host;
  std::vector<std::uint32_t> host_of(network.ranks());
  for (Rank rank = 0; rank < network.ranks(); ++rank) host_of[rank] = place[network.host_of(rank)];
  return group_by_host(host_of);
}

Network one_rank_a_host(const Network& network) {
  NetworkSpec spec = network.spec();
  for (std::uint32_t& count : spec.ranks) count = std::min(count, 1u);
  Network part = network.restricted_to(spec.ranks);
  if (spec.shape != Shape::graph || !spec.next_hops.empty() || spec.ranks == network.spec().ranks) return part;
  const Network anew(spec);
  NextHops hops(spec);
  bool same = true;
  for (Rank src = 0; src < part.ranks(); ++src)
    for (Rank dst = 0; dst < part.ranks(); ++dst) {
      const std::vector<Channel> route = part.route(src, dst);
      same = same && route == anew.route(src, dst);
      for (const Channel channel : route) hops.set(hops.head(channel ^ 1), part.host_of(dst), channel);
    }
  if (same) return part;
  spec.next_hops = forwarding_entries(spec, hops);
  return Network(std::move(spec));
}

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
