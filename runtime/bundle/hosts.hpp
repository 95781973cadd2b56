#pragma once
/// Which ranks of a communicator share a host.
#include <cstddef>
#include <vector>

#include "runtime/plan/numbering.hpp"

namespace hocket::runtime {

struct Hosts {
  /// Of each host with ranks, in the order of the network: its ranks of the communicator. The first is its leader.
  std::vector<std::vector<Rank>> ranks;
  std::vector<std::size_t> host_of;    ///< of a rank of the communicator
  std::size_t host = 0, local = 0;     ///< of this rank: its host, and its place among the ranks of the host
  std::size_t most = 0, together = 0;  ///< ranks on the fullest host, and in all
  std::size_t fewest = 0;              ///< ranks on the emptiest host

  [[nodiscard]] std::size_t count() const { return ranks.size(); }
  [[nodiscard]] const std::vector<Rank>& here() const { return ranks[host]; }
  [[nodiscard]] bool leads() const { return local == 0; }
};

/// What one rank carries where all lead: a bundle to one host and one from another, each from or to the rank there.
struct Carriage {
  std::size_t to_host, from_host;
  Rank to, from;
};

/// Of this rank, one after the other. So many ranks of every host carry as the emptiest host has; hosts at one distance
/// in the order of the network are served by ranks at the same place.
[[nodiscard]] std::vector<Carriage> carriages_of(const Hosts& hosts);

[[nodiscard]] Hosts hosts_of(const Numbering& numbering, std::size_t rank);

/// One rank for every host: its leader.
[[nodiscard]] Numbering leaders_of(const Numbering& numbering);

}  // namespace hocket::runtime
