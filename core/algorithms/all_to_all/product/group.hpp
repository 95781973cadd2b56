#pragma once
/// All moves of one line of a grid, dealt out to groups, and groups of several dimensions crossed.
///
/// A *line* is one ring (torus) or path (mesh) of a grid. A *move* is a pair (from, to) of its
/// coordinates, also from a coordinate to itself. A *part* is a set of moves that share no channel and
/// have different sources and different targets: what one line can do at a time. A *group* is a set of
/// moves in which every coordinate is the source of the same number of moves and the target of as many,
/// dealt out to parts. All moves of a line are dealt out to groups (lines.hpp); the groups of two
/// dimensions are crossed to groups of the plane (crossing.hpp), and so on: the parts of a group of the
/// whole grid are phases.
///
/// Source: the product of ring permutations is that of the talk (Stricker and Hardwick) after Hinrichs,
/// Kosak, O'Hallaron, Stricker and Take, SPAA 1994; groups with several moves per coordinate are our own.
#include <cstdint>
#include <span>
#include <vector>

namespace hocket::product {

inline constexpr std::uint32_t none = ~std::uint32_t{0};

struct Move {
  std::uint32_t from, to;
};

/// Moves grouped by part: those of part p are [begin[p], begin[p + 1]).
struct Group {
  std::uint32_t nodes = 0;
  std::vector<std::uint32_t> begin{0};
  std::vector<Move> moves;

  [[nodiscard]] std::uint32_t parts() const { return static_cast<std::uint32_t>(begin.size() - 1); }
  [[nodiscard]] std::span<const Move> part(std::uint32_t p) const {
    return {moves.data() + begin[p], moves.data() + begin[p + 1]};
  }
  /// Moves given by add() belong to the part that this ends.
  void add(std::uint32_t from, std::uint32_t to) { moves.push_back({from, to}); }
  void end_part() { begin.push_back(static_cast<std::uint32_t>(moves.size())); }
};

/// A move with its part; group_of() takes these in any order.
struct PlacedMove {
  std::uint32_t from, to, part;
};
[[nodiscard]] Group group_of(std::uint32_t nodes, std::uint32_t parts, const std::vector<PlacedMove>& moves);

/// Sets of parts in which the nodes take part; nodes with the same set are of one type.
struct PartSets {
  std::uint32_t parts = 0;
  std::vector<std::vector<std::uint32_t>> sets;  ///< per type: its parts, ascending
  std::vector<std::uint32_t> type;               ///< per node
};

/// The parts in which each node is a source.
[[nodiscard]] PartSets source_sets(const Group& group);
/// The parts in which each node is a target.
[[nodiscard]] PartSets target_sets(const Group& group);

}  // namespace hocket::product
