#pragma once
/// The hosts of a communicator's ranks.
#include <cstddef>
#include <vector>

#include "runtime/plan/numbering.hpp"

namespace hocket::runtime {

struct Hosts {
  /// The communicator's ranks on each occupied host; hosts are in network order. The first rank of a host is its
  /// leader.
  std::vector<std::vector<Rank>> ranks;
  std::vector<std::size_t> host_of;    ///< host index per communicator rank
  std::size_t host = 0, local = 0;     ///< this rank's host, and its index in ranks[host]
  std::size_t most = 0, together = 0;  ///< ranks on the fullest host, and in all
  std::size_t fewest = 0;              ///< ranks on the emptiest host

  [[nodiscard]] std::size_t count() const { return ranks.size(); }
  [[nodiscard]] const std::vector<Rank>& here() const { return ranks[host]; }
  [[nodiscard]] bool leads() const { return local == 0; }
};

/// One rank's share of inter-host traffic where all ranks act as leaders: it sends an aggregate to `to_host`, received
/// there by rank `to`, and receives one from `from_host`, sent there by rank `from`.
struct Carriage {
  std::size_t to_host, from_host;
  Rank to, from;
};

/// This rank's shares, in the order of execution. The first `fewest` ranks of every host take part; aggregates between
/// hosts at the same distance in network order are carried by ranks with the same local index.
[[nodiscard]] std::vector<Carriage> carriages_of(const Hosts& hosts);

[[nodiscard]] Hosts hosts_of(const Numbering& numbering, std::size_t rank);

/// One rank for every host: its leader.
[[nodiscard]] Numbering leaders_of(const Numbering& numbering);

}  // namespace hocket::runtime
