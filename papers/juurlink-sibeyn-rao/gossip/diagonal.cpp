#include "diagonal.hpp"

#include "core/error.hpp"

namespace hocket::gossip {

std::vector<std::vector<std::uint32_t>> diagonal(std::uint32_t side, std::uint32_t dimensions) {
  if (side == 0 || dimensions == 0) throw InputError("a diagonal needs a side and a dimension of at least 1");
  constexpr std::uint64_t most = 1u << 24;
  std::uint64_t count = 1;
  for (std::uint32_t i = 1; i < dimensions; ++i) {
    count *= side;
    if (count > most || i > 64) throw InputError("the diagonal of such a cube has too many points");
  }

  std::vector<std::vector<std::uint32_t>> points;
  points.reserve(count);
  // All coordinates but the last are free; the last one closes the sum.
  std::vector<std::uint32_t> point(dimensions, 0);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t rest = i, sum = 0;
    for (std::uint32_t axis = dimensions - 1; axis-- > 0; rest /= side) {
      point[axis] = static_cast<std::uint32_t>(rest % side);
      sum += point[axis];
    }
    point.back() = static_cast<std::uint32_t>((side - sum % side) % side);
    points.push_back(point);
  }
  return points;
}

}  // namespace hocket::gossip
