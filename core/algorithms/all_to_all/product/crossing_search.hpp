#pragma once
/// Crossings by local search, for sets of parts without a closed form.
#include <vector>

#include "core/algorithms/all_to_all/product/cross_phase.hpp"
#include "core/algorithms/all_to_all/product/group.hpp"

namespace hocket::product {

/// Pairs of moves, types told apart, beyond which no search is made.
inline constexpr std::size_t most_meetings = 4000;

/// The fewest phases that a bounded, deterministic search finds (`fires` is not set); empty if it finds none.
[[nodiscard]] std::vector<CrossPhase> search_crossing(const PartSets& left, const PartSets& right);

}  // namespace hocket::product
