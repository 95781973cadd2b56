#include "core/gossip/steps.hpp"

#include "core/error.hpp"

namespace hocket::gossip {

std::uint64_t check_sides(const std::vector<std::uint32_t>& sides, std::uint64_t most_nodes) {
  if (sides.empty()) throw InputError("a grid needs at least one side");
  std::uint64_t nodes = 1;
  for (const std::uint32_t side : sides) {
    nodes *= side;
    if (nodes == 0 || nodes > most_nodes)
      throw InputError("a grid needs sides of at least 1 and at most " + std::to_string(most_nodes) + " nodes in all");
  }
  return nodes;
}

std::uint32_t Grid::nodes() const {
  std::uint32_t count = 1;
  for (const std::uint32_t side : sides) count *= side;
  return count;
}

std::uint32_t Grid::stride(std::uint32_t axis) const {
  std::uint32_t stride = 1;
  for (std::uint32_t later = axis + 1; later < axes(); ++later) stride *= sides[later];
  return stride;
}

std::uint32_t Grid::coordinate(std::uint32_t node, std::uint32_t axis) const {
  return node / stride(axis) % sides[axis];
}

std::uint32_t Grid::moved(std::uint32_t node, std::uint32_t axis, std::int64_t displacement) const {
  const std::int64_t side = sides[axis], from = coordinate(node, axis);
  const std::int64_t to = ((from + displacement) % side + side) % side;
  return static_cast<std::uint32_t>(node + (to - from) * std::int64_t{stride(axis)});
}

void Steps::add(std::uint32_t src, std::uint32_t axis, std::int32_t displacement, std::span<const Parcel> content) {
  const std::uint64_t first = parcels.size();
  parcels.insert(parcels.end(), content.begin(), content.end());
  messages.push_back({src, axis, displacement, first, parcels.size()});
}

}  // namespace hocket::gossip
