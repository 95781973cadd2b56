#pragma once
/// Reasons why an algorithm does not serve a demand that hold for all algorithms of a pattern.
#include <string_view>

#include "core/algorithms/algorithm.hpp"

namespace hocket::algorithms {

/// Limit of explicit schedules, in ranks; beyond, each rank computes its own program.
inline constexpr std::uint32_t max_explicit_ranks = 8192;

/// The reason why there is no explicit schedule of an all-to-all, an all-gather or an irregular exchange; empty if one
/// can be made.
std::string_view common_why_not(const Network& network, const Demand& demand);
std::string_view gather_why_not(const Network& network, const Demand& demand);
std::string_view irregular_why_not(const Network& network, const Demand& demand);

}  // namespace hocket::algorithms
