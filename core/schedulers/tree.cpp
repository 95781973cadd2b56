/// "tree": the optimal schedule of Faraj and Yuan, materialised.
#include "core/schedulers/entries.hpp"
#include "core/schedulers/tree_phases.hpp"

namespace hocket::algorithms {

std::string_view tree_why_not(const Network& network, const Demand& demand) {
  if (network.tree() == nullptr) return "it needs a tree of switches";
  return common_why_not(network, demand);
}

Schedule tree(const Network& network, const Demand& demand, const SchedulerOptions&) {
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

}  // namespace hocket::algorithms
