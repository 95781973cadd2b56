/// "packing": whole messages packed into phases on any network with fixed routes and trunks of any
/// width: first fit, then repair where that misses the bound.
#include "core/schedule/bounds.hpp"
#include "core/schedulers/entries.hpp"
#include "core/schedulers/first_fit.hpp"
#include "core/schedulers/repair.hpp"

namespace hocket::algorithms {

Schedule packing(const Network& network, const Demand& demand, const SchedulerOptions&) {
  const std::uint64_t bound = lower_bounds(network, demand).phases;
  Packed packed = first_fit(network, demand, bound);
  repair(network, bound, packed);
  return group_by_phase(demand.ranks, demand.bytes, packed.phases, packed.phase_of, packed.hops);
}

}  // namespace hocket::algorithms
