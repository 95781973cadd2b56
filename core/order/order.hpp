#pragma once
/// Orders of a job's ranks in which the calls of their MPI library load the wires least.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/network/network.hpp"
#include "core/order/traffic.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::order {

/// Freedom that whoever starts the ranks leaves.
enum class Freedom : std::uint8_t {
  hosts,  ///< ranks fill the hosts one after the other; the order of hosts can be chosen
  ranks,  ///< every rank can be put on any place
};

/// `place[r]`: the number that rank r has in the network, where ranks are numbered by hosts.
struct Order {
  std::vector<Rank> place;
  std::string how;
  double gain = 1;  ///< times as fast as given; only reordered() tells
};

/// Ranks that fill these hosts one after the other.
[[nodiscard]] std::vector<Rank> filled(const Network& network, std::span<const Node> hosts);

/// The order with the least Wires::score of those compared: the given one (ranks fill the hosts of `given` in their
/// order), host_orders(), with Freedom::ranks also ranks dealt out to hosts in turn; of up to seven hosts every order
/// of theirs; and for listed messages a mapping by bisected() and exchanged(). The given one is kept where the score of
/// the best is not lower by 0.001 and more. `most_routes`: as for exchanged(); some seconds. The same on every machine.
/// Throws InputError where `given` are not the hosts of the network.
[[nodiscard]] Order order_ranks(const Network& network, std::span<const Node> given, std::span<const Call> calls,
                                Freedom freedom, std::uint64_t most_routes = 12'000'000);

/// The like for ranks that lie on any places: the best order of order_ranks() for ranks that can be put anywhere, or
/// `given`, the place of each rank, where nothing is gained by that. A second for 1,024 ranks of 40 neighbours.
[[nodiscard]] Order reordered(const Network& network, std::span<const Rank> given, std::span<const Call> calls);

/// The schedule with each rank in its place.
[[nodiscard]] Schedule placed(const Schedule& schedule, std::span<const Rank> place);

/// Improves the slot of each unit. Compared is the fourth power mean of the channels' times, which is close to the
/// longest and smooth; what is returned is best by Wires::score. Exchanges with the neighbours of a unit's partners and
/// with random units are tried until a round finds none, or until so many routes have been followed. The same on every
/// machine.
[[nodiscard]] std::vector<Unit> exchanged(const Network& network, const Units& units, const UnitGraph& graph,
                                          std::span<const Call> calls, std::vector<Unit> slot,
                                          std::uint64_t most_routes);

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
