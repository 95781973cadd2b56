#include "hocket/schedulers/product/lines.hpp"

#include <algorithm>
#include <numeric>

#include "hocket/schedulers/product/closed_forms.hpp"
#include "hocket/schedulers/product/line_search.hpp"

namespace hocket::product {

bool Line::up(std::uint32_t from, std::uint32_t to) const {
  if (!ring) return to > from;
  const std::uint32_t twice = 2 * ((to + side - from) % side);
  return twice < side || (twice == side && ties[from] == '+');
}

std::vector<std::uint32_t> Line::channels(std::uint32_t from, std::uint32_t to) const {
  std::vector<std::uint32_t> found;
  const bool upwards = up(from, to);
  for (; from != to; from = (from + (upwards ? 1 : side - 1)) % side) found.push_back(upwards ? from : side + from);
  return found;
}

std::uint32_t Line::load() const {
  std::vector<std::uint32_t> loads(std::size_t{2} * side, 0);
  for (std::uint32_t from = 0; from < side; ++from)
    for (std::uint32_t to = 0; to < side; ++to)
      for (const std::uint32_t channel : channels(from, to)) ++loads[channel];
  return *std::ranges::max_element(loads);
}

std::vector<Group> deal(const Line& line, const std::vector<GroupSize>& sizes) {
  for (const bool permutations : {false, true})
    if (!sizes.empty() && closed_form_sizes(line, permutations) == sizes)
      return closed_form_groups(line, permutations);
  return search_groups(line, sizes, false);
}

std::vector<Group> deal_with_rest(const Line& line) {
  std::vector<Group> groups{Group(line.side, 1)};
  std::iota(groups[0].to.begin(), groups[0].to.end(), 0u);
  const std::vector<Group> others = search_groups(line, std::vector<GroupSize>(line.side - 1), true);
  if (others.empty() && line.side > 1) return {};
  groups.insert(groups.end(), others.begin(), others.end());
  return groups;
}

}  // namespace hocket::product
