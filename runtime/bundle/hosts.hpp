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

  [[nodiscard]] std::size_t count() const { return ranks.size(); }
  [[nodiscard]] const std::vector<Rank>& here() const { return ranks[host]; }
  [[nodiscard]] bool leads() const { return local == 0; }
};

[[nodiscard]] Hosts hosts_of(const Numbering& numbering, std::size_t rank);

/// One rank for every host: its leader.
[[nodiscard]] Numbering leaders_of(const Numbering& numbering);

}  // namespace hocket::runtime
