#pragma once
/// Squeezing a packed schedule into fewer phases.
#include <cstdint>

#include "core/algorithms/all_to_all/resources.hpp"
#include "core/network/network.hpp"

namespace hocket::algorithms {

/// Default budget of repair(), in steps of about a nanosecond.
[[nodiscard]] std::uint64_t repair_budget(std::uint64_t messages);

/// Fits the messages of any contention-free one-port schedule, whose ranks may send in pools, into `bound` phases, or
/// into as few above it as a search within the budget finds; then dissolves one phase after the other while that
/// succeeds, and where more than a twentieth is left above the bound, closes phases by tabu search. `bound`: at least
/// 1, below which no schedule exists (lower_bounds). Deterministic: the budget is counted in steps, not in time. Leaves
/// `packed` as it was where nothing better is found, and where the tables would take more than 1 GiB.
void repair(const Network& network, const SendPools& pools, std::uint64_t bound, Packed& packed, std::uint64_t budget);

}  // namespace hocket::algorithms
