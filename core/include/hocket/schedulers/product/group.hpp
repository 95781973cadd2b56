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
#include <vector>

namespace hocket::product {

inline constexpr std::uint32_t none = ~std::uint32_t{0};

struct Group {
  std::uint32_t nodes = 0, parts = 0;
  std::vector<std::uint32_t> to;  ///< [node · parts + part]: the target of its move in the part, or none

  Group() = default;
  Group(std::uint32_t node_count, std::uint32_t part_count)
      : nodes(node_count), parts(part_count), to(std::size_t{node_count} * part_count, none) {}
  [[nodiscard]] std::uint32_t& target(std::uint32_t node, std::uint32_t part) {
    return to[std::size_t{node} * parts + part];
  }
  [[nodiscard]] std::uint32_t target(std::uint32_t node, std::uint32_t part) const {
    return to[std::size_t{node} * parts + part];
  }
};

/// In which parts each node takes part; nodes with the same set are of one type.
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
