#pragma once
/// Squeezing a packed schedule into fewer phases.
#include <cstdint>
#include <vector>

#include "hocket/network/network.hpp"
#include "hocket/schedule/schedule.hpp"

namespace hocket::algorithms {

/// Messages and the phase of each.
struct Packed {
  std::uint64_t phases = 0;
  std::vector<Hop> hops;
  std::vector<std::uint32_t> phase_of;
};

/// Tries to fit the messages into `bound` phases, or as few above it as a bounded search finds: a
/// message without a phase takes the place of those in its way, which then look for another, the
/// ones displaced most often being the hardest to displace. Deterministic. Leaves `packed` as it
/// was where nothing better is found.
void repair(const Network& network, std::uint64_t bound, Packed& packed);

}  // namespace hocket::algorithms
