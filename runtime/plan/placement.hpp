#pragma once
/// The host of the network on which this process runs.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/network/network.hpp"
#include "runtime/plan/planned.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {

struct Placement {
  std::int32_t node = -1;    ///< node of the network, -1 if unknown
  std::string problem = {};  ///< reason why `node` is unknown, and a remedy; empty if only `unknown_host` is the reason
  std::string unknown_host = {};  ///< the name of this host, which the network does not know
  /// Digest of the processor name where hosts go by names, else 0: all ranks of a host must have the same.
  std::uint64_t machine = 0;
  std::uint64_t processor = 0;  ///< digest of the processor name, always: hosts that share it are one machine
};

/// Locates this process according to Settings::placement. Empty: by processor name or, if the network lacks it, by
/// Slurm's name of the host. "slurm": by Slurm's name only. "order": by the launcher's rank. Else a file that names the
/// host of rank i in line i.
[[nodiscard]] Placement place_this_process(const Network& network, const Settings& settings);

/// Advice appended to messages about hosts that the network does not list.
inline constexpr std::string_view other_placements = "place ranks by 'hocket run --placement slurm|order|FILE'";

/// Ranks of a communicator numbered in the network's host order, those of one host in their own.
struct Numbering {
  std::vector<std::uint32_t> ranks_per_node;
  std::vector<int> comm_rank;      ///< communicator rank per network rank
  std::vector<Rank> network_rank;  ///< network rank per communicator rank
};

/// `nodes`: where each rank of the communicator is.
[[nodiscard]] Numbering number_ranks(const Network& network, std::span<const Node> nodes);

/// True if two of the messages from each rank to the next share a channel.
[[nodiscard]] bool neighbours_collide(const Network& network, const std::vector<Node>& nodes);

/// Turns network ranks into ranks of the communicator.
void translate(Planned& planned, const Numbering& numbering);

/// Renumbers a matrix of communicator ranks by network ranks. Throws as TrafficMatrix does.
[[nodiscard]] TrafficMatrix to_network(const TrafficMatrix& matrix, const Numbering& numbering);

}  // namespace hocket::runtime
