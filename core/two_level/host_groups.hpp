#pragma once
/// Groups of ranks that share a host, and the rank that sends and receives for each group.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/network/network.hpp"

namespace hocket {

struct HostGroups {
  /// Per host with ranks, in the order of the network: its ranks. The first is its leader.
  std::vector<std::vector<Rank>> ranks;
  std::vector<std::uint32_t> host_of;   ///< per rank
  std::vector<std::uint32_t> local_of;  ///< per rank: its place among the ranks of its host

  [[nodiscard]] std::size_t count() const { return ranks.size(); }
  [[nodiscard]] Rank leader(std::size_t host) const { return ranks[host].front(); }
  /// Ranks on the fullest host.
  [[nodiscard]] std::size_t most() const;
  /// True if all hosts have the same number of ranks.
  [[nodiscard]] bool equal() const { return most() * count() == host_of.size(); }
  /// Hosts by the rank of their leader: in this order aggregates lie in memory.
  [[nodiscard]] std::vector<std::size_t> by_leader() const;
};

/// `host_of`: a number for each rank, equal on one host. Hosts come by number, their ranks by rank.
[[nodiscard]] HostGroups group_by_host(std::span<const std::uint32_t> host_of);

/// The ranks of a network as it numbers them.
[[nodiscard]] HostGroups groups_of(const Network& network);

/// A copy of the network with one rank on every host: rank h is host h of groups_of(). Where balanced routes depend on
/// how many ranks hosts have, it gets the whole's as forwarding tables, so that a plan file keeps them.
[[nodiscard]] Network one_rank_a_host(const Network& network);

}  // namespace hocket
