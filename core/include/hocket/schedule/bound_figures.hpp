#pragma once
/// Lower bounds as numbers: of phases, of time, of what each channel carries.
#include <cstdint>
#include <vector>

#include "hocket/network/network.hpp"

namespace hocket {

struct Bounds {
  std::vector<std::uint64_t> load;  ///< per channel: messages routed over it
  std::uint64_t phases = 0;         ///< max over channels of ceil(load / capacity), and over ports
  double seconds = 0;               ///< max over channels of bytes / rate; irregular: and over ports at host rate
  Channel bottleneck = 0;           ///< the channel that sets `seconds`, or the last before a port does
};

}  // namespace hocket
