#pragma once
/// Ranks that move together, and the slots that they are put into.
#include <cstdint>
#include <span>
#include <vector>

#include "core/order/traffic.hpp"

namespace hocket::order {

using Unit = std::uint32_t;

/// Units of equally many ranks, and as many slots of as many places, in an order in which near ones follow each other.
struct Units {
  std::vector<std::vector<Rank>> ranks;   ///< per unit
  std::vector<std::vector<Rank>> places;  ///< per slot
  [[nodiscard]] Unit size() const { return static_cast<Unit>(ranks.size()); }
};

/// Bytes between units, either way together; compressed rows.
struct UnitGraph {
  struct Edge {
    Unit to = 0;
    double bytes = 0;
  };
  std::vector<std::uint64_t> begin{0};
  std::vector<Edge> edges;
  [[nodiscard]] std::span<const Edge> of(Unit unit) const {
    return std::span(edges).subspan(begin[unit], begin[unit + 1] - begin[unit]);
  }
};

/// Graph of the messages that the calls list; closed forms are left out.
[[nodiscard]] UnitGraph graph_of(const Units& units, std::span<const Call> calls);

}  // namespace hocket::order
