#pragma once
/// Orders of a job's hosts that follow the network.
#include <span>
#include <string_view>
#include <vector>

#include "core/network/network.hpp"

namespace hocket::order {

/// An order of the hosts of a network, and how it came about.
struct HostOrder {
  std::string_view how;
  std::vector<Node> hosts;
  bool compact = false;  ///< every stretch is of near hosts, also where the ring is not the best
};

/// Orders worth comparing, the given one first. Trees: depth-first, which crosses every link once each way and is so
/// optimal for rings; fat trees and dragonflies: by subtree and by group; tori, meshes and hypercubes: snakes and
/// Hamiltonian cycles; other graphs: depth-first in a spanning tree of the fastest links, and up to 2,048 hosts a ring
/// improved by search. `given`: all hosts of the network.
[[nodiscard]] std::vector<HostOrder> host_orders(const Network& network, std::span<const Node> given);

}  // namespace hocket::order
