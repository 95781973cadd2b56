#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings.hpp"
#include "core/error.hpp"
#include "core/gossip/search.hpp"
#include "core/gossip/steps.hpp"
#include "core/gossip/stride.hpp"
#include "papers/juurlink-sibeyn-rao/gossip/diagonal.hpp"
#include "papers/juurlink-sibeyn-rao/gossip/literal.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;
using namespace hocket::gossip;

namespace {

using Sides = std::vector<std::uint32_t>;

Grid grid_of(const Sides& sides, bool wraparound) {
  check_sides(sides, 1u << 30);
  return {sides, wraparound};
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_of(const std::vector<Round>& rounds) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Round& round : rounds) pairs.emplace_back(round.factor, round.steps);
  return pairs;
}

const char* name_of(RingPlan::Kind kind) {
  switch (kind) {
    case RingPlan::approach1:
      return "approach 1";
    case RingPlan::approach2:
      return "approach 2";
    case RingPlan::circgos:
      break;
  }
  return "CircGos";
}

using RingTuple = std::tuple<std::string, std::uint32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>>;

std::vector<std::vector<RingTuple>> tuples_of(const std::vector<std::vector<RingPlan>>& phases) {
  std::vector<std::vector<RingTuple>> tuples;
  for (const std::vector<RingPlan>& phase : phases) {
    tuples.emplace_back();
    for (const RingPlan& plan : phase)
      tuples.back().emplace_back(name_of(plan.kind), plan.kind == RingPlan::circgos ? plan.a : 0,
                                 pairs_of(plan.rounds));
  }
  return tuples;
}

Ports ports_of(bool half_duplex) { return half_duplex ? Ports::half_duplex : Ports::all; }

GossipModel model_of(bool shared, bool half_duplex) { return {shared, ports_of(half_duplex)}; }

/// The executor's findings on a plan's steps, by name.
nb::dict proof_of(const Sides& sides, const GossipPlan& plan, bool wraparound, bool half_duplex) {
  Execution e;
  {
    const nb::gil_scoped_release release;
    const Grid grid = grid_of(sides, wraparound);
    const Ports ports = ports_of(half_duplex);
    e = execute(grid, build_gossip(grid, plan, ports), ports);
  }
  nb::dict proof;
  proof["steps"] = e.steps;
  proof["strict_volume"] = e.strict_volume;
  proof["shared_volume"] = e.shared_volume;
  proof["redundant"] = e.redundant;
  proof["link_disjoint"] = e.link_disjoint;
  proof["ports_respected"] = e.ports_respected;
  proof["held"] = e.held;
  proof["complete"] = e.complete;
  proof["problem"] = e.problem;
  return proof;
}

}  // namespace

void bind_gossip_search(nb::module_& papers) {
  auto m = nb::cast<nb::module_>(papers.attr("gossip"));  // bind_gossip made it
  m.def("diagonal", &diagonal, "side"_a, "dimensions"_a,
        "Points whose coordinates sum to 0 modulo the side: one on each axis-parallel line");

  const auto bound = [&m](const char* name, double (*of)(const Grid&, double, Ports), const char* doc) {
    m.def(
        name,
        [of](const Sides& sides, double r, bool wraparound, bool half_duplex) {
          return of(grid_of(sides, wraparound), r, ports_of(half_duplex));
        },
        "sides"_a, "r"_a, "wraparound"_a = true, "half_duplex"_a = false, doc);
  };
  bound("synchronous_bound", &synchronous_bound, "Lemma 1 for synchronous steps");
  bound("bound", &lower_bound, "The best bound for synchronous steps");
  m.def(
      "asynchronous_bound",
      [](const Sides& sides, double r, bool wraparound) { return asynchronous_bound(grid_of(sides, wraparound), r); },
      "sides"_a, "r"_a, "wraparound"_a = true, "Lemma 1 for any schedule");
  m.def("ring_bound", &ring_bound, "n"_a, "r"_a, "Theorem 1 with its constants");
  m.def("fewest_half_duplex_steps", &fewest_half_duplex_steps, "nodes"_a, "The least t with phi^t >= nodes");
  m.def("potential_drop", &potential_drop, "share"_a);
  m.def("inverse_potential_drop", &inverse_potential_drop, "drop"_a);

  nb::class_<StrideStep>(m, "StrideStep", "A step of StrideGos.")
      .def(
          "__init__",
          [](StrideStep* self, const Sides& strides, std::int32_t turn) { new (self) StrideStep{strides, turn}; },
          "strides"_a, "turn"_a = StrideStep::every_axis)
      .def_ro("strides", &StrideStep::strides, "per axis; 0: nothing is sent along it")
      .def_ro("turn", &StrideStep::turn, "-1: all colours go along all axes");
  nb::class_<StridePlan>(m, "StridePlan", "The strides of StrideGos on a ring or torus.")
      .def(
          "__init__",
          [](StridePlan* self, const Sides& sides, const std::vector<StrideStep>& steps) {
            StridePlan plan{sides, steps, 0};
            plan.volume = stride_volume(plan);
            new (self) StridePlan(std::move(plan));
          },
          "sides"_a, "steps"_a)
      .def_ro("sides", &StridePlan::sides)
      .def_ro("steps", &StridePlan::steps)
      .def_ro("volume", &StridePlan::volume, "sum of the largest channel loads; negative: does not reach everyone")
      .def("time", &StridePlan::time, "r"_a);
  m.def("stride_volume", &stride_volume, "plan"_a);
  m.def("search_stride", &search_stride, "sides"_a, "r"_a, "effort"_a = default_effort,
        nb::call_guard<nb::gil_scoped_release>());

  nb::class_<GossipPlan>(m, "Plan", "A gossip algorithm with all of its parameters.")
      .def(
          "__init__",
          [](GossipPlan* self, const StridePlan& stride) {
            GossipPlan plan;
            plan.name = "StrideGos";
            plan.method = Method::stride;
            plan.stride = stride;
            plan.cost = {stride.steps.size(), stride.volume};
            new (self) GossipPlan(std::move(plan));
          },
          "stride"_a)
      .def_ro("name", &GossipPlan::name)
      .def_ro("coloured", &GossipPlan::coloured)
      .def_prop_ro(
          "phases", [](const GossipPlan& p) { return tuples_of(p.phases); },
          "per phase, one plan or one per axis: (kind, bridgeheads, [(factor, steps) of the rounds])")
      .def_ro("spacing", &GossipPlan::spacing, "CubGos: places between the first bridgeheads")
      .def_prop_ro(
          "rounds", [](const GossipPlan& p) { return pairs_of(p.rounds); }, "CubGos: (factor, steps)")
      .def_ro("stride", &GossipPlan::stride)
      .def_prop_ro("steps", [](const GossipPlan& p) { return p.cost.steps; })
      .def_prop_ro("volume", [](const GossipPlan& p) { return p.cost.volume; })
      .def_ro("time", &GossipPlan::time, "in units of one item over one link")
      .def_ro("bound", &GossipPlan::bound)
      .def_prop_ro("ratio", &GossipPlan::ratio)
      .def("__repr__", [](const GossipPlan& p) { return "<" + p.name + ": " + std::to_string(p.time) + ">"; });

  m.def(
      "candidates",
      [](const Sides& sides, double r, bool wraparound, bool shared, bool half_duplex, std::uint64_t effort) {
        return gossip_candidates(grid_of(sides, wraparound), r, model_of(shared, half_duplex), effort);
      },
      "sides"_a, "r"_a, "wraparound"_a = true, "shared"_a = false, "half_duplex"_a = false, "effort"_a = default_effort,
      nb::call_guard<nb::gil_scoped_release>(), "Every algorithm with its best parameters, the fastest first");
  m.def(
      "best",
      [](const Sides& sides, double r, bool wraparound, bool shared, bool half_duplex, std::uint64_t effort) {
        return best_gossip(grid_of(sides, wraparound), r, model_of(shared, half_duplex), effort);
      },
      "sides"_a, "r"_a, "wraparound"_a = true, "shared"_a = false, "half_duplex"_a = false, "effort"_a = default_effort,
      nb::call_guard<nb::gil_scoped_release>());
  m.def("prove", &proof_of, "sides"_a, "plan"_a, "wraparound"_a = true, "half_duplex"_a = false,
        "Builds the steps of a plan and says what the executor found");

  m.def("literal_circgos", &literal_circgos, "n"_a, "a"_a, "b"_a, "r"_a, "The paper's CircGos(n, a, b)");
  m.def(
      "best_literal_circgos",
      [](std::uint32_t n, double r) {
        const LiteralPlan plan = best_literal_circgos(n, r);
        return std::tuple(plan.time, plan.a, plan.b);
      },
      "n"_a, "r"_a, "(time, a, b)");
}
