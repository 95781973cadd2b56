#include "core/algorithms/all_to_all/product/line.hpp"

#include "core/network/routing.hpp"
#include "core/schedule/ring_loads.hpp"

namespace hocket::product {

bool Line::up(std::uint32_t from, std::uint32_t to) const { return goes_up(side, ring, ties, from, to); }

std::vector<std::uint32_t> Line::channels(std::uint32_t from, std::uint32_t to) const {
  std::vector<std::uint32_t> found;
  const bool upwards = up(from, to);
  for (; from != to; from = (from + (upwards ? 1 : side - 1)) % side) found.push_back(upwards ? from : side + from);
  return found;
}

std::uint32_t Line::load() const {
  return static_cast<std::uint32_t>((ring ? ring_loads(side, ties) : line_loads(side)).most());
}

}  // namespace hocket::product
