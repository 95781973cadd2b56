#include "hocket/schedulers/product/lines.hpp"

#include <algorithm>

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
  // Where moves begin (+1) and end (−1) on the line unrolled twice: up from `from`, down to `to`.
  std::vector<std::int64_t> change[2];
  for (auto& direction : change) direction.assign(std::size_t{2} * side + 1, 0);
  for (std::uint32_t from = 0; from < side; ++from)
    for (std::uint32_t to = 0; to < side; ++to) {
      if (from == to) continue;
      const bool upwards = up(from, to);
      const std::uint32_t first = upwards ? from : to, last = upwards ? to : from;
      ++change[upwards ? 0 : 1][first];
      --change[upwards ? 0 : 1][last < first ? last + side : last];
    }
  std::int64_t most = 0;
  for (const auto& direction : change) {
    std::vector<std::int64_t> loads(side, 0);
    std::int64_t now = 0;
    for (std::uint32_t i = 0; i < 2 * side; ++i) loads[i % side] += now += direction[i];
    most = std::max(most, *std::ranges::max_element(loads));
  }
  return static_cast<std::uint32_t>(most);
}

std::vector<Group> deal(const Line& line, const std::vector<GroupSize>& sizes, std::uint32_t attempts) {
  for (const bool permutations : {false, true})
    if (!sizes.empty() && closed_form_sizes(line, permutations) == sizes)
      return closed_form_groups(line, permutations);
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
