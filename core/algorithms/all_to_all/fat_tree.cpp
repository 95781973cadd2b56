/// "fat-tree": shifts along the hosts of a full fat tree.
#include "core/algorithms/all_to_all/fat_tree_form.hpp"
#include "core/algorithms/all_to_all/fat_tree_shifts.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/serves.hpp"
#include "core/algorithms/shared/written_out.hpp"

namespace hocket::algorithms {

static std::string_view fat_tree_why_not(const Network& network, const Demand& demand) {
  const std::string_view reason = common_why_not(network, demand);
  return reason.empty() ? FatTreeShifts::why_not(network) : reason;
}

static Schedule make_fat_tree(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  return written_out(FatTreeShifts(network), demand);
}

static FoundForm fat_tree_form(const Network& network, const Demand&, bool) {
  if (network.fat_tree() == nullptr) return {};
  if (const std::string_view reason = FatTreeShifts::why_not(network); !reason.empty()) return {nullptr, {}, reason};
  return {std::make_unique<closed_forms::FatTreeForm>(network)};
}

constinit const Algorithm fat_tree{
    .pattern = Pattern::all_to_all,
    .name = "fat-tree",
    .summary = "shifts along the hosts of a full fat tree, by its D-mod-k routes",
    .source = "Zahavi; whole subtrees of it: own",
    .contention_free = true,
    .ports = PortModel::one_port,
    .why_not = fat_tree_why_not,
    .make = make_fat_tree,
    .rank = 3,
    .form = fat_tree_form,
};

}  // namespace hocket::algorithms
