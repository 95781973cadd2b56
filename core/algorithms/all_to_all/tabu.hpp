#pragma once
/// Closing phases of a packed schedule by the best of many moves.
#include <cstdint>

#include "core/algorithms/all_to_all/packed.hpp"
#include "core/algorithms/all_to_all/resources.hpp"

namespace hocket::algorithms {

/// Closes one phase after the other until `enough` are left or the budget, in steps of about a nanosecond, is spent.
/// Deterministic. Of the messages that wait, and the phases, that pair comes next which drives the fewest messages out;
/// those may not come back to the phase for a while. Where every port is busy in every phase this goes further
/// than looking at one message after the other. After Blöchliger and Zufferey, "A graph coloring heuristic using
/// partial solutions and a reactive tabu scheme" (2008).
void close_by_tabu(const Resources& resources, std::uint64_t enough, Packed& packed, std::uint64_t budget);

}  // namespace hocket::algorithms
