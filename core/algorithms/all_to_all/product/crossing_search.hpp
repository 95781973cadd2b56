#pragma once
/// Crossings by local search, for sets of parts without a closed form.
#include <cstdint>
#include <vector>

#include "core/algorithms/all_to_all/product/group.hpp"

namespace hocket::product {

/// One phase of a crossing. Messages travel in the left dimensions first and turn where these end, into the line of the
/// right dimension.
struct CrossPhase {
  std::vector<std::uint32_t> left;   ///< per source type of the right group: the left part to use, or none
  std::vector<std::uint32_t> right;  ///< per target type of the left group: the right part to use, or none
  std::vector<bool> fires;           ///< [left type · right types + right type]: those that turn there send
};

/// Pairs of moves, types told apart, beyond which no search is made.
inline constexpr std::size_t most_meetings = 4000;

/// The fewest phases that a bounded, deterministic search finds (`fires` is not set); empty if it finds none.
[[nodiscard]] std::vector<CrossPhase> search_crossing(const PartSets& left, const PartSets& right);

}  // namespace hocket::product
