#pragma once
/// A choice of ways that have no channel in common.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/network/alternatives.hpp"

namespace hocket {

/// For each item one of its options, such that no channel is in the options of two; nothing where a search finds none
/// while it looks at `budget` channels and items. Channels are numbers below `channels`. Same options, same choice.
/// Throws InputError for an unknown channel, or an item without options.
///
/// Source: min-conflicts (Minton et al., 1992) with a list of moves that are not taken back for a while (Galinier and
/// Hao, "Tabu search for maximal constraint satisfaction problems", 1997), from what least_load() finds.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> disjoint_ways(std::size_t channels,
                                                                      const std::vector<std::vector<Way>>& items,
                                                                      std::uint64_t budget);

}  // namespace hocket
