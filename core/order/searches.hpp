#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "core/network/network.hpp"
#include "core/order/traffic.hpp"

namespace hocket::order {

/// Improves the slot of each unit. Compared is the fourth power mean of the channels' times, which is close to the
/// longest and smooth; what is returned is best by Wires::score. Exchanges with the neighbours of a unit's partners and
/// with random units are tried until a round finds none, or until so many routes have been followed that it takes some
/// seconds. The same on every machine.
[[nodiscard]] std::vector<Unit> exchanged(const Network& network, const Units& units, const UnitGraph& graph,
                                          std::span<const Call> calls, std::vector<Unit> slot);

/// The place of each rank.
[[nodiscard]] std::vector<Rank> places_of(const Units& units, std::span<const Unit> slot);

/// The slot of each unit. The line is cut near its middle, where the way from one slot to the next is longest; the
/// units are dealt out to both parts so that few bytes cross the cut, counting what they send to units elsewhere by the
/// way that is saved; both parts again, level by level. Sources: Pellegrini, "Static mapping by dual recursive
/// bipartitioning of process and architecture graphs" (1994); Kernighan and Lin, "An efficient heuristic procedure for
/// partitioning graphs" (1970), with the bookkeeping of Fiduccia and Mattheyses (1982).
[[nodiscard]] std::vector<Unit> bisected(const Network& network, const Units& units, const UnitGraph& graph);

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
