#pragma once
/// Division of a line's moves into groups.
#include <cstdint>
#include <vector>

#include "core/algorithms/all_to_all/product/group.hpp"

namespace hocket::product {

/// Groups of these sizes that hold every move of the line, those to itself included, exactly once; the
/// moves of the sizes must add up to the side. Empty where none is found: closed forms first, then a
/// deterministic search of at most so many attempts (fractions of a second each).
[[nodiscard]] std::vector<Group> deal(const Line& line, const std::vector<GroupSize>& sizes, std::uint32_t attempts);

/// Groups as of deal(), for `side` permutations of one part each, the first of which is the identity.
[[nodiscard]] std::vector<Group> deal_with_rest(const Line& line);

/// One way to deal out the lines of every dimension, and the phases that crossing them takes, estimated.
struct Choice {
  std::vector<std::vector<GroupSize>> sizes;  ///< per dimension
  double phases = 0;
};

/// All sensible ways, fewest phases first; at equal numbers those in closed form first.
[[nodiscard]] std::vector<Choice> choices(const std::vector<Line>& lines);

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

/// Phases in which every move of the left group meets every move of the right one exactly once, grouped
/// so that each group is again regular. A line of the left dimensions uses one part at a time, which
/// depends on where it lies in the right dimension, and so does each line of the right dimension.
/// `left` are target sets, `right` source sets. Deterministic.
[[nodiscard]] std::vector<std::vector<CrossPhase>> cross(const PartSets& left, const PartSets& right);

/// The moves of the plane in these phases: node x · right.nodes + y for node x of the left group.
[[nodiscard]] Group compose(const Group& left, const PartSets& left_targets, const Group& right,
                            const PartSets& right_sources, const std::vector<CrossPhase>& phases);

}  // namespace hocket::product
