#include "core/gossip/grids.hpp"

#include <numeric>

#include "core/error.hpp"

namespace hocket::gossip {
namespace {

/// Collects how finely items must be cut for every message to be cut in equal chunks of whole units.
class Units {
 public:
  explicit Units(std::uint64_t colours) : colours_(colours) {}
  /// A message of so many items of one colour is cut in so many chunks.
  void cut(std::uint64_t items, std::uint64_t chunks) { units_ = std::lcm(units_, chunks / std::gcd(chunks, items)); }
  void circulate(std::uint64_t holders, std::uint64_t items) {
    if (holders % 2 == 0) cut(items, 2);
  }
  void ring(std::uint32_t side, std::uint64_t items, const RingPlan& plan, Model model) {
    const bool halves = model.wraparound && model.ports == Ports::all;
    if (plan.kind == RingPlan::approach1 && halves) circulate(side, items);
    if (plan.kind != RingPlan::circgos) return;
    const std::vector<Cell> cells = bridgehead_cells(side, plan.a, model.wraparound);
    std::uint32_t gap = cells.size() == 1 ? side : 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (halves) circulate(plan.a, cells[i].size * items);
      if (i > 0) gap = std::max(gap, cells[i].head - cells[i - 1].head);
    }
    if (model.wraparound) gap = std::max(gap, cells.front().head + side - cells.back().head);
    for (const Round& round : plan.rounds) {
      const std::uint32_t factor = std::min(round.factor, gap);
      if (factor < 2) continue;
      cut(side * items, ins_chunks(factor, round.steps, model.ports));
      gap = ceil_div(gap, factor);
    }
  }
  [[nodiscard]] std::uint64_t units() const { return units_ * colours_; }

 private:
  std::uint64_t colours_, units_ = 1;
};

/// Calls use(node) for one processor of every line along an axis: that at place 0.
template <typename Use>
void each_line(const Grid& grid, std::uint32_t axis, Use&& use) {
  for (std::uint32_t node = 0; node < grid.nodes(); ++node)
    if (grid.coordinate(node, axis) == 0) use(node);
}

std::uint32_t coordinate_sum(const Grid& grid, std::uint32_t node) {
  std::uint32_t sum = 0;
  for (std::uint32_t axis = 0; axis < grid.axes(); ++axis) sum += grid.coordinate(node, axis);
  return sum;
}

/// The places on a line whose coordinates sum to a multiple of `spacing`; `node` is at place 0.
Line::Places diagonal_places(const Grid& grid, std::uint32_t axis, std::uint32_t node, std::uint32_t spacing) {
  Line::Places places;
  for (std::uint32_t at = (spacing - coordinate_sum(grid, node) % spacing) % spacing; at < grid.sides[axis];
       at += spacing)
    places.push_back(at);
  return places;
}

}  // namespace

Steps high_dim_gossip(const Grid& grid, const std::vector<std::vector<RingPlan>>& plans, bool coloured, Ports ports) {
  check_sides(grid.sides);
  const Model model{grid.wraparound, ports};
  const std::uint32_t d = grid.axes(), colours = coloured ? d : 1;
  (void)high_dim_cost(grid.sides, plans, coloured, model);  // checks the plans
  const auto plan = [&](std::uint32_t phase, std::uint32_t axis) -> const RingPlan& {
    return plans[phase][plans[phase].size() == 1 ? 0 : axis];
  };
  Units units(colours);
  for (std::uint32_t colour = 0; colour < colours; ++colour) {
    std::uint64_t items = 1;
    for (std::uint32_t phase = 0; phase < d; ++phase) {
      const std::uint32_t axis = (colour + phase) % d;
      units.ring(grid.sides[axis], items, plan(phase, axis), model);
      items *= grid.sides[axis];
    }
  }
  Builder builder(grid, units.units(), colours);
  std::uint64_t start = 0;
  for (std::uint32_t phase = 0; phase < d; ++phase) {
    std::uint64_t end = start;
    for (std::uint32_t colour = 0; colour < colours; ++colour) {
      const std::uint32_t axis = (colour + phase) % d;
      each_line(grid, axis, [&](std::uint32_t node) {
        end = std::max(end, Line(builder, axis, node, colour, ports).gossip(start, plan(phase, axis)));
      });
    }
    start = end;
  }
  return builder.finish(start);
}

Steps cubgos(const Grid& grid, std::uint32_t spacing, const std::vector<Round>& rounds, bool coloured) {
  check_sides(grid.sides);
  if (!grid.wraparound) throw InputError("CubGos needs a torus");
  (void)cubgos_cost(grid.sides, spacing, rounds, coloured);  // checks the parameters
  const std::uint32_t d = grid.axes(), colours = coloured ? d : 1;
  Units units(colours);
  for (std::uint32_t colour = 0; colour < colours; ++colour) {
    std::uint64_t items = spacing;
    for (std::uint32_t i = 0; i < d; ++i) {
      const std::uint32_t holders = grid.sides[(colour + i) % d] / spacing;
      units.circulate(holders, items);
      items *= holders;
    }
    for (const Round& round : rounds) {
      units.cut(items, ins_chunks(round.factor, round.steps));
      for (std::uint32_t i = 1; i < d; ++i) {
        units.circulate(round.factor, items);
        items *= round.factor;
      }
    }
  }

  Builder builder(grid, units.units(), colours);
  std::uint64_t start = 0;
  // One phase: a block on every line along the i-th axis of each colour.
  const auto phase = [&](std::uint32_t i, auto&& block) {
    std::uint64_t end = start;
    for (std::uint32_t colour = 0; colour < colours; ++colour) {
      const std::uint32_t axis = (colour + i) % d;
      each_line(grid, axis, [&](std::uint32_t node) {
        Line line(builder, axis, node, colour);
        end = std::max(end, block(line, diagonal_places(grid, axis, node, spacing)));
      });
    }
    start = end;
  };
  phase(0, [&](Line& line, const Line::Places& places) {
    std::vector<Cell> cells;
    for (const std::uint32_t place : places) {
      const std::uint32_t head = place + line.side();
      cells.push_back({head - spacing / 2, spacing, head});
    }
    return line.concentrate(start, cells);
  });
  for (std::uint32_t i = 0; i < d; ++i)
    phase(i, [&](Line& line, const Line::Places& places) { return line.circulate(start, places); });
  for (const Round& round : rounds) {
    phase(0, [&](Line& line, Line::Places places) { return line.insert(start, places, round); });
    spacing /= round.factor;
    for (std::uint32_t i = 1; i < d; ++i)
      phase(i, [&](Line& line, const Line::Places& places) { return line.circulate(start, places, round.factor); });
  }
  return builder.finish(start);
}

Steps black_white_gossip(const Grid& grid) {
  check_sides(grid.sides);
  if (grid.axes() != 2) throw InputError("black and white processors need two axes");
  (void)black_white_cost(grid.sides[0], grid.sides[1]);  // checks the sides
  Builder builder(grid, 1);
  std::uint64_t start = 0;
  for (const std::uint32_t axis : {1U, 0U}) {
    for (std::uint32_t node = 0; node < grid.nodes(); ++node) {
      if (grid.coordinate(node, axis) % 2 == 1) continue;
      const std::uint32_t other = grid.moved(node, axis, 1);
      builder.send(start, node, axis, 1, builder.held(0, node));
      builder.send(start + 1, other, axis, -1, builder.held(0, other));
      const Aggregate* both = builder.merged({builder.held(0, node), builder.held(0, other)});
      builder.hold(0, node, both);
      builder.hold(0, other, both);
    }
    start += 2;
  }
  // Rows run along axis 1. Everyone of the same line and kind moves; its blocks hold the rest.
  for (const bool second : {false, true}) {
    std::uint64_t end = start;
    for (const std::uint32_t black : {0U, 1U}) {
      const std::uint32_t axis = (black == 0) != second ? 1 : 0;
      each_line(grid, axis, [&](std::uint32_t node) {
        Line::Places places;
        for (std::uint32_t at = (coordinate_sum(grid, node) + black) % 2; at < grid.sides[axis]; at += 2)
          places.push_back(at);
        end = std::max(end, Line(builder, axis, node, 0, Ports::half_duplex).circulate(start, places));
      });
    }
    start = end;
  }
  return builder.finish(start);
}

}  // namespace hocket::gossip
