#pragma once
/// Groups of rings of 4q and of paths of even side, without a search.
#include <vector>

#include "hocket/schedulers/product/lines.hpp"

namespace hocket::product {

/// The groups whose sizes closed_form_sizes gives.
///
/// Coordinates that are half a side apart form a class. Four coordinates of two classes, visited in the
/// order of the line, are a *tile*: going round it once uses every channel of a ring once. The rounds of a
/// tournament of the classes (circle method) are permutations made of tiles; what is left are the moves
/// within a class, half a side long or to oneself.
/// Source for four messages that fill a ring: Hinrichs et al., SPAA 1994; the tournament: own.
[[nodiscard]] std::vector<Group> closed_form_groups(const Line& line, bool permutations);

}  // namespace hocket::product
