#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "core/error.hpp"
#include "core/gossip/cost.hpp"
#include "core/gossip/grids.hpp"
#include "core/gossip/steps.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;
using namespace hocket::gossip;

namespace {

/// (step, src, axis, displacement, parcels), a parcel being (origin, begin, end).
using ParcelRow = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
using MessageRow = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::int32_t, std::vector<ParcelRow>>;

Steps steps_from_rows(std::uint32_t units, const std::vector<MessageRow>& rows) {
  Steps steps;
  steps.units = units;
  std::vector<Parcel> content;
  for (const auto& [step, src, axis, displacement, parcels] : rows) {
    if (step < steps.size()) throw InputError("messages must be sorted by step");
    while (steps.size() < step) steps.end_step();
    content.clear();
    for (const auto& [origin, begin, end] : parcels) content.push_back({origin, begin, end});
    steps.add(src, axis, displacement, content);
  }
  if (!rows.empty()) steps.end_step();
  return steps;
}

std::vector<MessageRow> rows_of(const Steps& steps) {
  std::vector<MessageRow> rows;
  for (std::uint64_t step = 0; step < steps.size(); ++step)
    for (const Message& message : steps.step(step)) {
      std::vector<ParcelRow> parcels;
      for (const Parcel& parcel : steps.content(message)) parcels.emplace_back(parcel.origin, parcel.begin, parcel.end);
      rows.emplace_back(step, message.src, message.axis, message.displacement, std::move(parcels));
    }
  return rows;
}

void bind_steps(nb::module_& m) {
  nb::class_<Grid>(m, "Grid", "Processors of a torus or mesh, in row-major order; one side: a ring or linear array.")
      .def(
          "__init__",
          [](Grid* self, std::vector<std::uint32_t> sides, bool wraparound) {
            new (self) Grid{std::move(sides), wraparound};
          },
          "sides"_a, "wraparound"_a = true)
      .def_ro("sides", &Grid::sides)
      .def_ro("wraparound", &Grid::wraparound)
      .def_prop_ro("nodes", &Grid::nodes);

  nb::enum_<Ports>(m, "Ports", "What a processor may do in one step.")
      .value("all", Ports::all, "one message out and one in per incident channel, full duplex")
      .value("half_duplex", Ports::half_duplex, "one message, out or in");

  nb::class_<Steps>(m, "Steps", "Synchronous steps of messages along axes.")
      .def_static("from_rows", &steps_from_rows, "units"_a, "rows"_a,
                  "From (step, src, axis, displacement, [(origin, begin, end), ...]), sorted by step.")
      .def("rows", &rows_of)
      .def_ro("units", &Steps::units, "that an item is cut into")
      .def_prop_ro("messages", [](const Steps& steps) { return steps.messages.size(); })
      .def("__len__", &Steps::size);

  nb::class_<Execution>(m, "Execution", "What executing steps found. Times in units of one item over one link.")
      .def_ro("steps", &Execution::steps)
      .def_ro("strict_volume", &Execution::strict_volume, "sum over steps of the largest message")
      .def_ro("shared_volume", &Execution::shared_volume, "sum over steps of the largest channel load")
      .def_ro("redundant", &Execution::redundant, "units that reached a processor which had them")
      .def_ro("link_disjoint", &Execution::link_disjoint)
      .def_ro("ports_respected", &Execution::ports_respected)
      .def_ro("held", &Execution::held, "nothing was sent before its sender had it")
      .def_ro("complete", &Execution::complete, "everyone ends with everything")
      .def_ro("problem", &Execution::problem, "the first rule broken")
      .def("strict_time", &Execution::strict_time, "r"_a)
      .def("shared_time", &Execution::shared_time, "r"_a);
  m.def("execute", &execute, "grid"_a, "steps"_a, "ports"_a = Ports::all, nb::call_guard<nb::gil_scoped_release>());
}

void bind_costs(nb::module_& m) {
  nb::class_<Cost>(m, "Cost", "Steps, and the sum over them of the largest message.")
      .def_ro("steps", &Cost::steps)
      .def_ro("volume", &Cost::volume)
      .def("time", &Cost::time, "r"_a)
      .def("__repr__", [](const Cost& cost) {
        return "Cost(steps=" + std::to_string(cost.steps) + ", volume=" + std::to_string(cost.volume) + ")";
      });

  nb::class_<Round>(m, "Round", "Up to factor - 1 new bridgeheads in every gap, in so many steps.")
      .def(
          "__init__", [](Round* self, std::uint32_t factor, std::uint32_t steps) { new (self) Round{factor, steps}; },
          "factor"_a, "steps"_a)
      .def_ro("factor", &Round::factor)
      .def_ro("steps", &Round::steps)
      .def("__repr__", [](const Round& round) {
        return "Round(" + std::to_string(round.factor) + ", " + std::to_string(round.steps) + ")";
      });

  nb::class_<RingPlan> plan(m, "RingPlan", "How to gossip on a ring or linear array.");
  nb::enum_<RingPlan::Kind>(plan, "Kind")
      .value("approach1", RingPlan::approach1, "everyone's item goes around both ways")
      .value("approach2", RingPlan::approach2, "concentrate everything in one processor, then disseminate it")
      .value("circgos", RingPlan::circgos, "concentrate in bridgeheads, circulate, insert new ones in rounds");
  plan.def(
          "__init__",
          [](RingPlan* self, RingPlan::Kind kind, std::uint32_t a, std::vector<Round> rounds) {
            new (self) RingPlan{kind, a, std::move(rounds)};
          },
          "kind"_a, "a"_a = 1, "rounds"_a = std::vector<Round>{})
      .def_ro("kind", &RingPlan::kind)
      .def_ro("a", &RingPlan::a, "bridgeheads at first")
      .def_ro("rounds", &RingPlan::rounds);

  m.def(
      "ring_cost",
      [](std::uint32_t n, const RingPlan& ring_plan, double message, bool wraparound, Ports ports) {
        return ring_cost(n, message, ring_plan, {wraparound, ports});
      },
      "n"_a, "plan"_a, "message"_a = 1.0, "wraparound"_a = true, "ports"_a = Ports::all);
  m.def(
      "high_dim_cost",
      [](const Grid& grid, const std::vector<std::vector<RingPlan>>& plans, bool coloured, Ports ports) {
        return high_dim_cost(grid.sides, plans, coloured, {grid.wraparound, ports});
      },
      "grid"_a, "plans"_a, "coloured"_a = true, "ports"_a = Ports::all);
  m.def(
      "cubgos_cost",
      [](const Grid& grid, std::uint32_t spacing, const std::vector<Round>& rounds, bool coloured) {
        return cubgos_cost(grid.sides, spacing, rounds, coloured);
      },
      "grid"_a, "spacing"_a, "rounds"_a, "coloured"_a = true);
  m.def(
      "black_white_cost",
      [](const Grid& grid) {
        if (grid.axes() != 2) throw InputError("black and white processors need two axes");
        return black_white_cost(grid.sides[0], grid.sides[1]);
      },
      "grid"_a);
}

}  // namespace

void bind_gossip(nb::module_& papers) {
  nb::module_ m = papers.def_submodule("gossip", "Gossip (all-gather) on rings, arrays, tori and meshes.");
  bind_steps(m);
  bind_costs(m);
  m.def("high_dim_gossip", &high_dim_gossip, "grid"_a, "plans"_a, "coloured"_a = true, "ports"_a = Ports::all,
        "One axis after the other; plans[phase] is one plan, or one for every axis.");
  m.def("cubgos", &cubgos, "grid"_a, "spacing"_a, "rounds"_a, "coloured"_a = true,
        "Bridgeheads on diagonals, `spacing` apart at first.");
  m.def("black_white_gossip", &black_white_gossip, "grid"_a);
}
