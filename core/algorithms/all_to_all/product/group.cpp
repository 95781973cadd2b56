#include "core/algorithms/all_to_all/product/group.hpp"

#include <algorithm>
#include <map>

namespace hocket::product {
namespace {

PartSets by_type(std::uint32_t parts, const std::vector<std::vector<std::uint32_t>>& of_node) {
  PartSets result;
  result.parts = parts;
  std::map<std::vector<std::uint32_t>, std::uint32_t> number;  // ordered, so that equal structures look equal
  for (const auto& set : of_node) number.emplace(set, 0);
  for (auto& [set, type] : number) {
    type = static_cast<std::uint32_t>(result.sets.size());
    result.sets.push_back(set);
  }
  for (const auto& set : of_node) result.type.push_back(number.at(set));
  return result;
}

/// A full permutation in one part, by far the most frequent group.
bool is_permutation(const Group& group) { return group.parts() == 1 && group.moves.size() == group.nodes; }

template <class End>
PartSets sets_of(const Group& group, End end) {
  if (is_permutation(group)) return {1, {{0}}, std::vector<std::uint32_t>(group.nodes, 0)};
  std::vector<std::vector<std::uint32_t>> sets(group.nodes);
  for (std::uint32_t part = 0; part < group.parts(); ++part)
    for (const Move& move : group.part(part)) sets[move.*end].push_back(part);
  return by_type(group.parts(), sets);
}

}  // namespace

PartSets source_sets(const Group& group) { return sets_of(group, &Move::from); }

PartSets target_sets(const Group& group) { return sets_of(group, &Move::to); }

Group group_of(std::uint32_t nodes, std::uint32_t parts, const std::vector<PlacedMove>& moves) {
  Group group;
  group.nodes = nodes;
  group.begin.assign(parts + 1, 0);
  for (const PlacedMove& move : moves) ++group.begin[move.part + 1];
  for (std::uint32_t part = 0; part < parts; ++part) group.begin[part + 1] += group.begin[part];
  std::vector<std::uint32_t> next(group.begin.begin(), group.begin.end() - 1);
  group.moves.resize(moves.size());
  for (const PlacedMove& move : moves) group.moves[next[move.part]++] = {move.from, move.to};
  return group;
}

}  // namespace hocket::product
