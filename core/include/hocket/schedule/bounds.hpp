#pragma once
/// Loads and lower bounds of a demand on a network: what no schedule can beat.
#include <cstdint>
#include <vector>

#include "hocket/demand/demand.hpp"
#include "hocket/network/network.hpp"

namespace hocket {

struct Bounds {
  std::vector<std::uint64_t> load;  ///< per channel: messages routed over it
  std::uint64_t phases = 0;         ///< max over channels of ceil(load / capacity), and over ports
  double seconds = 0;               ///< max over channels of bytes / rate; irregular: and over ports at host rate
  Channel bottleneck = 0;           ///< the channel that sets `seconds`, or the last before a port does
};

/// Irregular demands are counted route by route; their ports are those of the one-port model.
/// All-to-all loads. Trees are counted by subtree sizes and grids ring by ring, in linear time (one rank's row
/// at 100,000 hosts needs this); other networks by walking every route.
[[nodiscard]] Bounds lower_bounds(const Network& network, const Demand& demand);

}  // namespace hocket
