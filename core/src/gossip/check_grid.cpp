#include "check_grid.hpp"

#include <string>

#include "hocket/error.hpp"

namespace hocket::gossip {

void check_grid(const Grid& grid) {
  constexpr std::uint64_t most_nodes = 1 << 16;
  if (grid.sides.empty()) throw InputError("a grid needs at least one axis");
  std::uint64_t nodes = 1;
  for (const std::uint32_t side : grid.sides) {
    nodes *= side;
    if (nodes == 0 || nodes > most_nodes)
      throw InputError("a grid needs 1 to " + std::to_string(most_nodes) + " processors");
  }
}

}  // namespace hocket::gossip
