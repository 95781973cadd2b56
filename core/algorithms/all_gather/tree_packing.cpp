/// "tree-packing": all-gather on any network down trees that load all channels alike, whatever their capacities.
///
/// On hosts whose links are as fast as all links of their switch, one message a host leaves most links idle, and a ring
/// passes the slowest one. Many trees for every contribution use all of them, as ForestColl does (Zhao et al., 2024).
#include "core/algorithms/all_gather/forest.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/serves.hpp"
#include "core/algorithms/shared/slots.hpp"

namespace hocket::algorithms {

static constexpr std::uint32_t most_tree_ranks = 256;  // a second or a few on one core

static std::string_view tree_packing_why_not(const Network& network, const Demand& demand) {
  if (const auto reason = gather_why_not(network, demand); !reason.empty()) return reason;
  if (network.tree() != nullptr) return "between two hosts of a tree there is one way";
  return demand.ranks <= most_tree_ranks ? "" : "more than 256 ranks: it would take long";
}

static Schedule make_tree_packing(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  const HostRoutes routes(network);
  return send_in_slots(network, demand, routes, pack_trees(network, demand, routes, costs.seed), costs);
}

/// Where all links are alike, rails and the algorithms of grids, whose ranks have few partners, are tried first.
static bool tree_packing_is_far(const Network& network, const Demand&, const Bounds&) { return network.equal_rates(); }

constinit const Algorithm tree_packing{
    .pattern = Pattern::all_gather,
    .name = "tree-packing",
    .summary = "grains down many trees that load all channels alike",
    .source = "own; trees as in ForestColl (Zhao et al.)",
    .contention_free = true,
    .ports = PortModel::all_port,
    .why_not = tree_packing_why_not,
    .make = make_tree_packing,
    .rank = 5,
    .is_far = tree_packing_is_far,
    .even_phases = true,
};

}  // namespace hocket::algorithms
