#include "hocket/schedulers/product/group.hpp"

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
bool is_permutation(const Group& group) {
  return group.parts == 1 && std::ranges::find(group.to, none) == group.to.end();
}

PartSets one_type(std::uint32_t nodes) { return {1, {{0}}, std::vector<std::uint32_t>(nodes, 0)}; }

}  // namespace

PartSets source_sets(const Group& group) {
  if (is_permutation(group)) return one_type(group.nodes);
  std::vector<std::vector<std::uint32_t>> sets(group.nodes);
  for (std::uint32_t node = 0; node < group.nodes; ++node)
    for (std::uint32_t part = 0; part < group.parts; ++part)
      if (group.target(node, part) != none) sets[node].push_back(part);
  return by_type(group.parts, sets);
}

PartSets target_sets(const Group& group) {
  if (is_permutation(group)) return one_type(group.nodes);
  std::vector<std::vector<std::uint32_t>> sets(group.nodes);
  for (std::uint32_t part = 0; part < group.parts; ++part)
    for (std::uint32_t node = 0; node < group.nodes; ++node)
      if (const std::uint32_t target = group.target(node, part); target != none) sets[target].push_back(part);
  return by_type(group.parts, sets);
}

}  // namespace hocket::product
