#pragma once
/// The ranks of a communicator and those of the network it runs on.
#include <span>
#include <vector>

#include "core/network/network.hpp"
#include "runtime/plan/planned.hpp"

namespace hocket::runtime {

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
