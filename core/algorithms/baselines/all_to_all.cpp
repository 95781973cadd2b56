/// All-to-all algorithms that MPI libraries use without knowing the network; kept for comparison.
#include <bit>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/serves.hpp"

namespace hocket::algorithms {
namespace {

/// Phases in which partner(rank, phase) says whom each rank sends to.
template <class Partner>
Schedule by_partner(const Demand& demand, std::uint64_t phases, Partner partner) {
  std::vector<std::uint64_t> begin{0};
  std::vector<Hop> hops;
  hops.reserve(demand.messages());
  for (std::uint64_t phase = 0; phase < phases; ++phase) {
    for (Rank src = 0; src < demand.ranks; ++src)
      if (const Rank dst = partner(src, static_cast<Rank>(phase)); dst != src) hops.push_back({src, dst});
    begin.push_back(hops.size());
  }
  return {demand.ranks, demand.bytes, std::move(begin), std::move(hops)};
}

}  // namespace

/// LAM/MPI: everybody posts all sends in the order 0, 1, 2, … (Faraj and Yuan, section 6).
static Schedule make_linear(const Network&, const Demand& demand, const AlgorithmOptions&) {
  std::vector<std::uint64_t> begin{0};
  std::vector<Hop> hops;
  hops.reserve(demand.messages());
  for (Rank src = 0; src < demand.ranks; ++src)
    for (Rank dst = 0; dst < demand.ranks; ++dst)
      if (src != dst) hops.push_back({src, dst});
  if (!hops.empty()) begin.push_back(hops.size());
  return {demand.ranks, demand.bytes, std::move(begin), std::move(hops)};
}

/// MPICH, any number of ranks: at step j rank i sends to i + j (Thakur, Rabenseifner and Gropp).
static Schedule make_ring(const Network&, const Demand& demand, const AlgorithmOptions&) {
  const Rank n = demand.ranks;
  return by_partner(demand, n > 0 ? n - 1 : 0, [n](Rank src, Rank phase) { return (src + phase + 1) % n; });
}

static std::string_view pairwise_why_not(const Network& network, const Demand& demand) {
  if (!std::has_single_bit(demand.ranks)) return "it needs a power of two of ranks";
  return common_why_not(network, demand);
}

/// MPICH, powers of two: at step j rank i exchanges with i XOR j.
static Schedule make_pairwise(const Network&, const Demand& demand, const AlgorithmOptions&) {
  return by_partner(demand, demand.ranks - 1, [](Rank src, Rank phase) { return src ^ (phase + 1); });
}

constinit const Algorithm ring{
    .pattern = Pattern::all_to_all,
    .name = "ring",
    .summary = "at step j rank i sends to i + j",
    .source = "MPICH (Thakur, Rabenseifner, Gropp)",
    .contention_free = false,
    .ports = PortModel::one_port,
    .why_not = common_why_not,
    .make = make_ring,
};

constinit const Algorithm pairwise{
    .pattern = Pattern::all_to_all,
    .name = "pairwise",
    .summary = "at step j rank i exchanges with i XOR j",
    .source = "MPICH, powers of two",
    .contention_free = false,
    .ports = PortModel::one_port,
    .why_not = pairwise_why_not,
    .make = make_pairwise,
};

constinit const Algorithm linear{
    .pattern = Pattern::all_to_all,
    .name = "linear",
    .summary = "post everything at once, in the order of ranks",
    .source = "LAM/MPI",
    .contention_free = false,
    .ports = PortModel::one_port,
    .why_not = common_why_not,
    .make = make_linear,
};

}  // namespace hocket::algorithms
