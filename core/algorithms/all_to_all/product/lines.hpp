#pragma once
/// Division of a line's moves into groups.
#include <cstdint>
#include <vector>

#include "core/algorithms/all_to_all/product/group.hpp"
#include "core/algorithms/all_to_all/product/line_forms.hpp"

namespace hocket::product {

/// Groups of these sizes that hold every move of the line, those to itself included, exactly once; the
/// moves of the sizes must add up to the side. Empty where none is found: closed forms first, then a
/// deterministic search of at most so many attempts (fractions of a second each).
[[nodiscard]] std::vector<Group> deal(const Line& line, const std::vector<GroupSize>& sizes, std::uint32_t attempts);

/// Groups as of deal(), for `side` permutations of one part each, the first of which is the identity.
[[nodiscard]] std::vector<Group> deal_with_rest(const Line& line);

}  // namespace hocket::product
