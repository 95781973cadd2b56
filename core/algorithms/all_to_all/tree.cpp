/// "tree": the optimal schedule of Faraj and Yuan, materialised.
#include "core/algorithms/all_to_all/tree_form.hpp"
#include "core/algorithms/all_to_all/tree_phases.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/serves.hpp"

namespace hocket::algorithms {

static std::string_view tree_why_not(const Network& network, const Demand& demand) {
  if (network.tree() == nullptr) return "it needs a tree of switches";
  return common_why_not(network, demand);
}

static Schedule make_tree(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  const TreePhases phases(network);
  std::vector<std::uint32_t> phase_of;
  std::vector<Hop> hops;
  phase_of.reserve(demand.messages());
  hops.reserve(demand.messages());
  for (Rank src = 0; src < demand.ranks; ++src)
    for (Rank dst = 0; dst < demand.ranks; ++dst) {
      if (src == dst) continue;
      phase_of.push_back(static_cast<std::uint32_t>(phases.phase(src, dst)));
      hops.push_back({src, dst});
    }
  return group_by_phase(demand.ranks, demand.bytes, phases.phases(), phase_of, hops);
}

/// Compares with the bound, since the schedule sends one message at a time over an inter-switch link, however wide that
/// is.
static bool tree_is_far(const Network& network, const Demand&, const Bounds& bounds) {
  return TreePhases(network).phases() != bounds.phases;
}

static FoundForm tree_form(const Network& network, const Demand& demand, bool) {
  if (network.tree() == nullptr) return {};
  auto form = std::make_unique<closed_forms::TreeForm>(network);
  if (form->phases() == lower_bounds(network, demand).phases) return {std::move(form)};
  return {nullptr, {}, "the tree schedule does not meet the bound"};
}

constinit const Algorithm tree{
    .pattern = Pattern::all_to_all,
    .name = "tree",
    .summary = "optimal phases on any tree of switches with equal links",
    .source = "Faraj and Yuan, section 4",
    .contention_free = true,
    .ports = PortModel::one_port,
    .why_not = tree_why_not,
    .make = make_tree,
    .rank = 1,
    .is_far = tree_is_far,
    .form = tree_form,
};

}  // namespace hocket::algorithms
