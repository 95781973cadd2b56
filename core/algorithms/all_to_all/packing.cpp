/// "packing": whole messages packed into phases on any network with fixed routes and inter-switch links of any
/// width: first fit, then repair where that misses the bound.
#include <algorithm>
#include <optional>
#include <utility>

#include "core/algorithms/all_to_all/first_fit.hpp"
#include "core/algorithms/all_to_all/repair.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/serves.hpp"
#include "core/schedule/bounds.hpp"

namespace hocket::algorithms {

namespace {

/// `bound`: below which there is no schedule.
Packed packed_by(const Network& network, const SendPools& pools, std::uint64_t bound) {
  Packed packed = first_fit(network, pools, bound);
  repair(network, pools, bound, packed, repair_budget(packed.hops.size()));
  pools.deal(packed.phases, packed.hops, packed.phase_of);
  return packed;
}

}  // namespace

/// Packs with the ranks' own ports first, unless pools of them need no more phases than the bound.
static Schedule make_packing(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  const std::uint64_t bound = lower_bounds(network, demand).phases;
  const SendPools own(network, false), shared(network, true);
  const std::uint64_t of_pools = std::max<std::uint64_t>(bound, demand.ranks);
  std::optional<Packed> best;
  if (!shared.any_shared() || bound < of_pools) best = packed_by(network, own, bound);
  if (shared.any_shared() && (!best || best->phases > of_pools))
    if (Packed other = packed_by(network, shared, of_pools); !best || other.phases < best->phases)
      best = std::move(other);
  return group_by_phase(demand.ranks, demand.bytes, best->phases, best->phase_of, best->hops);
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
