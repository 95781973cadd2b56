#pragma once
/// Mapping of a graph of units onto a line of slots by recursive bisection.
#include <vector>

#include "core/network/network.hpp"
#include "core/order/units.hpp"

namespace hocket::order {

/// The slot of each unit. The line is cut near its middle, where the way from one slot to the next is longest; the
/// units are dealt out to both parts so that few bytes cross the cut, counting what they send to units elsewhere by the
/// way that is saved; both parts again, level by level. Sources: Pellegrini, "Static mapping by dual recursive
/// bipartitioning of process and architecture graphs" (1994); Kernighan and Lin, "An efficient heuristic procedure for
/// partitioning graphs" (1970), with the bookkeeping of Fiduccia and Mattheyses (1982).
[[nodiscard]] std::vector<Unit> bisected(const Network& network, const Units& units, const UnitGraph& graph);

}  // namespace hocket::order
