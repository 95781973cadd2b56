#pragma once
/// Crossing a group of one grid with a group of one more dimension.
#include <vector>

#include "core/algorithms/all_to_all/product/crossing_search.hpp"
#include "core/algorithms/all_to_all/product/group.hpp"

namespace hocket::product {

/// Phases in which every move of the left group meets every move of the right one exactly once, grouped
/// so that each group is again regular. A line of the left dimensions uses one part at a time, which
/// depends on where it lies in the right dimension, and so does each line of the right dimension.
/// `left` are target sets, `right` source sets. Deterministic.
[[nodiscard]] std::vector<std::vector<CrossPhase>> cross(const PartSets& left, const PartSets& right);

/// The moves of the plane in these phases: node x · right.nodes + y for node x of the left group.
[[nodiscard]] Group compose(const Group& left, const PartSets& left_targets, const Group& right,
                            const PartSets& right_sources, const std::vector<CrossPhase>& phases);

}  // namespace hocket::product
