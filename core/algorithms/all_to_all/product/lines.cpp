#include "core/algorithms/all_to_all/product/lines.hpp"

#include "core/algorithms/all_to_all/product/line_forms.hpp"
#include "core/algorithms/all_to_all/product/line_search.hpp"

namespace hocket::product {

std::vector<Group> deal(const Line& line, const std::vector<GroupSize>& sizes, std::uint32_t attempts) {
  for (const bool permutations : {false, true})
    if (!sizes.empty() && closed_form_sizes(line, permutations) == sizes) return closed_form_groups(line, permutations);
  return search_groups(line, sizes, false, attempts);
}

std::vector<Group> deal_with_rest(const Line& line) {
  constexpr std::uint32_t attempts = 8;
  Group rest;
  rest.nodes = line.side;
  for (std::uint32_t node = 0; node < line.side; ++node) rest.add(node, node);
  rest.end_part();
  std::vector<Group> groups{std::move(rest)};
  const std::vector<Group> others = search_groups(line, std::vector<GroupSize>(line.side - 1), true, attempts);
  if (others.empty() && line.side > 1) return {};
  groups.insert(groups.end(), others.begin(), others.end());
  return groups;
}

}  // namespace hocket::product
