#pragma once
/// Reasons why an algorithm does not serve a demand that hold for all algorithms of a pattern.
#include <string_view>

#include "core/algorithms/algorithm.hpp"

namespace hocket::algorithms {

/// Explicit schedules end at this many ranks; beyond, each rank computes its own row.
inline constexpr std::uint32_t max_explicit_ranks = 8192;

/// Empty, or why there is no explicit schedule of an all-to-all, an all-gather or an irregular exchange.
std::string_view common_why_not(const Network& network, const Demand& demand);
std::string_view gather_why_not(const Network& network, const Demand& demand);
std::string_view irregular_why_not(const Network& network, const Demand& demand);

}  // namespace hocket::algorithms
