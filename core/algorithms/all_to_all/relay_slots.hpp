#pragma once
/// Slots in which parts of messages go over the edges of their ways.
#include <cstdint>
#include <vector>

#include "core/algorithms/all_to_all/relay_ways.hpp"

namespace hocket::algorithms {

struct RelaySlots {
  std::uint64_t slots = 0;
  std::vector<std::uint32_t> slot_of;  ///< of each of RelayWays::edges
};

/// A part leaves a host in a later slot than it came. In a slot a channel carries parts of one edge, as many as this
/// has room for. Lists are made forwards and backwards in turn, by the slots of the one before (as in Li and Willis,
/// "An iterative scheduling technique for resource-constrained project scheduling", EJOR 1992), until `enough` slots
/// do.
[[nodiscard]] RelaySlots find_relay_slots(const RelayGraph& graph, const RelayWays& ways, std::uint64_t enough,
                                          std::uint64_t seed);

}  // namespace hocket::algorithms
