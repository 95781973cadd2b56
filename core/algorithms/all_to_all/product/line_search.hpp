#pragma once
/// Dealing out the moves of a line by local search.
#include <vector>

#include "core/algorithms/all_to_all/product/group.hpp"
#include "core/algorithms/all_to_all/product/line.hpp"

namespace hocket::product {

/// Groups of these sizes, or none if the search (bounded, deterministic) finds none in so many
/// attempts. `without_rest`: moves from a coordinate to itself are left out.
[[nodiscard]] std::vector<Group> search_groups(const Line& line, const std::vector<GroupSize>& sizes, bool without_rest,
                                               std::uint32_t attempts);

}  // namespace hocket::product
