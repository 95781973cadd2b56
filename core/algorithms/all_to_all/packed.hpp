#pragma once
#include <cstdint>
#include <vector>

#include "core/schedule/schedule.hpp"

namespace hocket::algorithms {

/// Messages and the phase of each.
struct Packed {
  std::uint64_t phases = 0;
  std::vector<Hop> hops;
  std::vector<std::uint32_t> phase_of;
};

}  // namespace hocket::algorithms
