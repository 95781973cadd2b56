#include "core/algorithms/baselines/library_calls.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"

namespace hocket {
namespace {

constexpr std::uint32_t most_ranks_of_a_library_call = 1024;  // Bruck's messages name every block that they carry

std::string_view few_enough(std::uint32_t ranks) {
  return ranks > most_ranks_of_a_library_call ? "more than 1024 ranks" : "";
}

std::string_view power_of_two(std::uint32_t ranks) {
  return std::has_single_bit(ranks) ? few_enough(ranks) : "it needs a power of two of ranks";
}

/// Everybody posts everything: rank i to i - 1, i - 2, ...
Schedule all_at_once(const Network&, const Demand& demand) {
  const Rank n = demand.ranks;
  algorithms::PhaseWriter writer(demand);
  for (Rank src = 0; src < n; ++src)
    for (Rank step = 1; step < n; ++step) writer.send(src, (src + n - step) % n);
  return writer.finish();
}

/// In step k rank i sends to i + 2^k the blocks whose targets lie at a distance with bit k set.
Schedule bruck_all_to_all(const Network&, const Demand& demand) {
  const Rank n = demand.ranks;
  algorithms::PhaseWriter writer(demand);
  for (Rank bit = 1; bit < n; bit *= 2) {
    for (Rank src = 0; src < n; ++src) {
      for (Rank distance = bit; distance < n; ++distance) {
        if ((distance & bit) == 0) continue;
        const Rank origin = (src + n - (distance & (bit - 1))) % n;  // it has come by the lower bits
        writer.add({origin, (origin + distance) % n, 0, demand.bytes});
      }
      writer.send(src, (src + bit) % n);
    }
    writer.end_phase();
  }
  return writer.finish();
}

template <const Algorithm& of>
Schedule scheduled(const Network& network, const Demand& demand) {
  return of.make(network, demand, {});
}

template <const Algorithm& of>
Schedule reduced(const Network& network, const Demand& demand) {
  return turned_in_steps(demand.pattern, of.make(network, gather_of(demand), {}));
}

using Steps = std::vector<NativeStep>;

/// At step k with the rank at distance k.
template <NativeStep::Partner kind>
Steps with_each(std::uint32_t ranks) {
  Steps steps;
  if (kind == NativeStep::Partner::bits && !std::has_single_bit(ranks)) return steps;
  for (std::uint32_t distance = 1; distance < ranks; ++distance) steps.push_back({kind, distance});
  return steps;
}

Steps bruck_all_to_all_steps(std::uint32_t ranks) {
  Steps steps;
  for (std::uint32_t bit = 1; bit < ranks; bit *= 2) {
    double blocks = 0;
    for (std::uint32_t distance = bit; distance < ranks; ++distance) blocks += (distance & bit) != 0 ? 1 : 0;
    steps.push_back({NativeStep::Partner::next, bit, blocks});
  }
  return steps;
}

Steps ring_steps(std::uint32_t ranks) {
  if (ranks < 2) return {};
  return {{NativeStep::Partner::next, 1, 1, static_cast<double>(ranks - 1)}};
}

Steps turned_ring_steps(std::uint32_t ranks) {
  if (ranks < 2) return {};
  return {{NativeStep::Partner::next, ranks - 1, 1, static_cast<double>(ranks - 1)}};
}

Steps doubling_steps(std::uint32_t ranks) {
  Steps steps;
  if (!std::has_single_bit(ranks)) return steps;
  for (std::uint32_t bit = 1; bit < ranks; bit *= 2)
    steps.push_back({NativeStep::Partner::bits, bit, static_cast<double>(bit)});
  return steps;
}

Steps bruck_gather_steps(std::uint32_t ranks) {
  Steps steps;
  for (std::uint32_t distance = 1; distance < ranks; distance *= 2)
    steps.push_back(
        {NativeStep::Partner::next, ranks - distance, static_cast<double>(std::min(distance, ranks - distance))});
  return steps;
}

/// The steps of an all-gather after those of the reduce-scatter that is its mirror image.
template <Steps (*scatter)(std::uint32_t), Steps (*gather)(std::uint32_t)>
Steps both(std::uint32_t ranks) {
  Steps steps = scatter(ranks);
  const Steps others = gather(ranks);
  steps.insert(steps.end(), others.begin(), others.end());
  return steps;
}

std::uint64_t most_bytes_of_doubling(std::uint32_t ranks) { return 524'287 / ranks; }
std::uint64_t most_bytes_of_gathering_bruck(std::uint32_t ranks) { return 81'919 / ranks; }
std::uint64_t most_bytes_of_bruck(std::uint32_t) { return 256; }

constexpr auto pairwise_steps = with_each<NativeStep::Partner::bits>;
constexpr auto shift_steps = with_each<NativeStep::Partner::next>;

constexpr FlowControl all_together{FlowControl::Kind::free, 1}, in_steps{FlowControl::Kind::steps, 1};

constexpr std::array library_table{
    LibraryCall{Pattern::all_to_all, "all-at-once", all_together, "MPICH, Open MPI: linear", few_enough, all_at_once,
                nullptr},
    LibraryCall{Pattern::all_to_all, "ring", in_steps, "Open MPI: pairwise; MPICH: other counts than powers of two",
                few_enough, scheduled<algorithms::ring>, shift_steps},
    LibraryCall{Pattern::all_to_all, "pairwise", in_steps, "MPICH, powers of two", power_of_two,
                scheduled<algorithms::pairwise>, pairwise_steps},
    LibraryCall{Pattern::all_to_all, "bruck", in_steps, "Bruck et al., IEEE TPDS 8 (1997); MPICH, Open MPI", few_enough,
                bruck_all_to_all, bruck_all_to_all_steps, most_bytes_of_bruck},
    LibraryCall{Pattern::all_gather, "ring", in_steps, "MPICH, Open MPI", few_enough,
                scheduled<algorithms::neighbor_ring>, ring_steps},
    LibraryCall{Pattern::all_gather, "recursive-doubling", in_steps, "MPICH, Open MPI, powers of two", power_of_two,
                scheduled<algorithms::recursive_doubling>, doubling_steps, most_bytes_of_doubling},
    LibraryCall{Pattern::all_gather, "bruck", in_steps, "MPICH, Open MPI", few_enough, scheduled<algorithms::bruck>,
                bruck_gather_steps, most_bytes_of_gathering_bruck},
    LibraryCall{Pattern::reduce_scatter, "ring", in_steps, "Open MPI: ring; MPICH: pairwise", few_enough,
                reduced<algorithms::neighbor_ring>, turned_ring_steps},
    LibraryCall{Pattern::reduce_scatter, "recursive-halving", in_steps, "MPICH, Open MPI, powers of two", power_of_two,
                reduced<algorithms::recursive_doubling>, doubling_steps},
    LibraryCall{Pattern::all_reduce, "ring", in_steps, "Open MPI, long vectors", few_enough,
                reduced<algorithms::neighbor_ring>, both<turned_ring_steps, ring_steps>},
    LibraryCall{Pattern::all_reduce, "rabenseifner", in_steps, "Rabenseifner, 1997; MPICH, powers of two", power_of_two,
                reduced<algorithms::recursive_doubling>, both<doubling_steps, doubling_steps>},
};

}  // namespace

std::span<const LibraryCall> library_calls() { return library_table; }

std::vector<const LibraryCall*> library_calls(const Demand& demand) {
  std::vector<const LibraryCall*> found;
  const auto& blocks = demand.contributions;
  if (!blocks.empty() && std::ranges::max(blocks) - std::ranges::min(blocks) > 1) return found;
  for (const LibraryCall& call : library_calls())
    if (call.pattern == demand.pattern && call.why_not(demand.ranks).empty()) found.push_back(&call);
  return found;
}

}  // namespace hocket
