#pragma once
/// Next hops that load the channels of a graph evenly where everyone sends to everyone.
#include "core/network/next_hops.hpp"
#include "core/network/spec.hpp"

namespace hocket {

/// Next hops of every node by destination host; hosts forward nothing unless they say so. They begin as shortest paths,
/// each on the channels that carry least so far; then one node after the other gets another next hop for one
/// destination where that lowers a sum of high powers of the channels' times. Ways longer than the shortest are taken
/// where the shortest load a channel for longer than the hosts' own are busy, and longer ones do so for less. The same
/// answer everywhere: moves are counted, not timed. Where can_be_balanced() says no, the paths stay the shortest.
/// Throws NetworkProblem where a host does not reach another, and for graphs that are too large to tabulate. Source of
/// the beginning: Hoefler, Schneider and Lumsdaine, "Optimized Routing for Large-Scale InfiniBand Networks" (2009); of
/// the moves: own.
[[nodiscard]] NextHops balanced_next_hops(const NetworkSpec& spec);

/// True if trying all moves of a graph once is not too much: about 1,000 hosts.
[[nodiscard]] bool can_be_balanced(const NetworkSpec& spec);

}  // namespace hocket
