#pragma once
/// Lower bounds as numbers: of phases, of time, of what each channel carries.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/network/network.hpp"

namespace hocket {

struct Bounds {
  std::vector<std::uint64_t> load;  ///< per channel: messages routed over it
  std::uint64_t phases = 0;         ///< max over channels of ceil(load / capacity), and over ports
  double seconds = 0;               ///< max over channels of bytes / rate: no schedule takes less time
  double port_seconds = 0;          ///< irregular: max over ports of bytes / host rate
  Channel bottleneck = 0;           ///< the channel that sets `seconds`

  /// No schedule takes less time whose ranks send, and receive, one message at a time at the speed of a host. Waits
  /// keep apart what shares a channel: a host with several links is faster.
  [[nodiscard]] double one_port_seconds() const { return std::max(seconds, port_seconds); }
};

}  // namespace hocket
