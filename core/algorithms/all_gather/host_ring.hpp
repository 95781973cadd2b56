#pragma once
/// Rings of hosts for all-gathers on any network.
#include <vector>

#include "core/network/network.hpp"

namespace hocket::algorithms {

/// Cycles through all hosts of a torus, mesh or hypercube, no two of which share a link; empty where
/// none was found. A torus of d dimensions has d, a hypercube of d dimensions ⌊d/2⌋, a mesh one.
[[nodiscard]] std::vector<std::vector<Node>> grid_cycles(const Network& network);

/// One ring of all hosts whose routes load the channels little: near ones follow each other, improved
/// by moving stretches of the ring. In a fat tree the order of its hosts: one edge leaves each subtree, and one comes
/// in; in a dragonfly group by group. Deterministic.
[[nodiscard]] std::vector<Node> host_ring(const Network& network);

}  // namespace hocket::algorithms
