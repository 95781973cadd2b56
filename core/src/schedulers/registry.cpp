#include <array>
#include <string>

#include "hocket/error.hpp"
#include "hocket/schedulers/entries.hpp"
#include "hocket/schedulers/scheduler.hpp"

namespace hocket {
namespace {

using namespace algorithms;

constexpr std::array table{
    Scheduler{"tree", "optimal phases on any tree of switches with equal links", "Faraj and Yuan, section 4", true,
              tree_why_not, tree},
    Scheduler{"packing", "phases packed against the bottleneck on any network, trunks of any width",
              "own; first fit with repair", true, common_why_not, packing},
    Scheduler{"ring", "at step j rank i sends to i + j", "MPICH (Thakur, Rabenseifner, Gropp)", false, common_why_not,
              ring},
    Scheduler{"pairwise", "at step j rank i exchanges with i XOR j", "MPICH, powers of two", false, pairwise_why_not,
              pairwise},
    Scheduler{"linear", "post everything at once, in the order of ranks", "LAM/MPI", false, common_why_not, linear},
};

}  // namespace

std::string_view algorithms::common_why_not(const Network& network, const Demand& demand) {
  if (demand.ranks != network.ranks()) return "demand and network differ in the number of ranks";
  if (demand.ranks > max_explicit_ranks) return "more than 8192 ranks: ask for one rank's row";
  return {};
}

std::span<const Scheduler> schedulers() { return table; }

const Scheduler& find_scheduler(std::string_view name) {
  for (const Scheduler& scheduler : table)
    if (scheduler.name == name) return scheduler;
  std::string known;
  for (const Scheduler& scheduler : table) known += (known.empty() ? "" : ", ") + std::string(scheduler.name);
  throw InputError("no scheduler is called '" + std::string(name) + "'; there are " + known);
}

}  // namespace hocket
