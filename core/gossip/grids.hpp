#pragma once
/// Gossip on rings, arrays, tori and meshes as steps. What they cost stands in cost.hpp.
///
/// Source: Juurlink, Sibeyn and Rao, "Gossiping on Meshes and Tori", sections 4 to 7.
#include <cstdint>
#include <vector>

#include "core/gossip/cost.hpp"
#include "core/gossip/steps.hpp"

namespace hocket::gossip {

/// Gossip on one axis after the other: HighDimGos, and coloured HighDimGos'. On one axis, the ring's or array's own
/// algorithm. Its cost: high_dim_cost().
[[nodiscard]] Steps high_dim_gossip(const Grid& grid, const std::vector<std::vector<RingPlan>>& plans,
                                    bool coloured = true, Ports ports = Ports::all);

/// CubGos, and coloured CubGos', on a torus. Its cost: cubgos_cost().
[[nodiscard]] Steps cubgos(const Grid& grid, std::uint32_t spacing, const std::vector<Round>& rounds,
                           bool coloured = true);

/// Half-duplex gossip on a torus or mesh of two even sides. Its cost: black_white_cost().
[[nodiscard]] Steps black_white_gossip(const Grid& grid);

}  // namespace hocket::gossip
