/// "packing": whole messages packed into phases on any network with fixed routes and inter-switch links of any
/// width: first fit, then repair where that misses the bound.
#include "core/algorithms/all_to_all/first_fit.hpp"
#include "core/algorithms/all_to_all/repair.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/serves.hpp"
#include "core/schedule/bounds.hpp"

namespace hocket::algorithms {

static Schedule make_packing(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  const std::uint64_t bound = lower_bounds(network, demand).phases;
  Packed packed = first_fit(network, demand, bound);
  repair(network, bound, packed);
  return group_by_phase(demand.ranks, demand.bytes, packed.phases, packed.phase_of, packed.hops);
}

constinit const Algorithm packing{
    .pattern = Pattern::all_to_all,
    .name = "packing",
    .summary = "phases packed against the bottleneck on any network, inter-switch links of any width",
    .source = "own; ejection search as of Nagata and Bräysy",
    .contention_free = true,
    .ports = PortModel::one_port,
    .why_not = common_why_not,
    .make = make_packing,
    .rank = 6,
};

}  // namespace hocket::algorithms
