#include "sort/mpi/permute/h_relation.hpp"

#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/progress/waiting.hpp"
#include "sort/core/elements/partition.hpp"
#include "sort/mpi/exchange/deliver.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/place/collective_try.hpp"
#include "sort/mpi/place/private_memory.hpp"

namespace hocket::sort {
namespace {

constexpr std::size_t relation_slot = 0;  ///< slot for HostSharedContext::block()

Arrived allocate(std::size_t bytes) {
  Arrived memory(static_cast<std::byte*>(std::malloc(std::max<std::size_t>(bytes, 1))));
  if (!memory) throw std::bad_alloc();
  return memory;
}

void divide_by_rank(std::size_t width, const std::byte* source, std::span<const std::uint16_t> ranks,
                    const BlockCounts& sends, std::byte* to) {
  std::vector<std::byte*> at = block_begins(to, sends, width);
  partition(width, source, ranks.size(), ranks, at);
}

/// The offset of this rank's elements in every target's part: after those of lower ranks.
BlockCounts places_at_targets(HostSharedContext& place, const BlockCounts& receives) {
  BlockCounts begins(receives.size());
  std::exclusive_scan(receives.begin(), receives.end(), begins.begin(), std::uint64_t{0});
  return exchange_counts(place, begins);
}

}  // namespace

void FreeMemory::operator()(std::byte* memory) const { std::free(memory); }

std::vector<std::uint16_t> check_ranks(HostSharedContext& place, std::span<const int> ranks) {
  std::vector<std::uint16_t> checked;
  collective_try(place, [&] {
    if (place.size() > std::numeric_limits<std::uint16_t>::max())
      throw InputError("elements can be sent between at most 65,535 ranks");
    checked.resize(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i] < 0 || ranks[i] >= place.size())
        throw InputError("rank " + std::to_string(ranks[i]) + " of element " + std::to_string(i) +
                         " is out of range: there are " + std::to_string(place.size()) + " ranks");
      checked[i] = static_cast<std::uint16_t>(ranks[i]);
    }
  });
  return checked;
}

Arrived send_elements(HostSharedContext& place, bool chained, std::size_t width, const std::byte* source,
                      std::span<const std::uint16_t> ranks, std::uint64_t& arrived) {
  BlockCounts sends(static_cast<std::size_t>(place.size()), 0);
  for (const std::uint16_t rank : ranks) ++sends[rank];
  const BlockCounts receives = exchange_counts(place, sends);
  arrived = total_of(receives);
  Arrived target;
  PrivateMemory packed;
  collective_try(place, [&] {
    target = allocate(arrived * width);
    if (chained) return;
    packed = PrivateMemory(ranks.size() * width);
    divide_by_rank(width, source, ranks, sends, packed.data());
  });
  if (!chained) {
    exchange_blocks(place, width, packed.data(), sends, target.get(), receives);
    return target;
  }
  const Layout layout = Layout::gather(place.comm(), arrived);
  const BlockCounts places = places_at_targets(place, receives);
  const SharedBlock& block = place.block(relation_slot, ranks.size() * width);
  divide_by_rank(width, source, ranks, sends, block.part(place.host_rank()));
  std::vector<Run> runs;
  std::uint64_t from = 0;
  for (std::size_t rank = 0; rank < sends.size(); ++rank) {
    if (sends[rank] > 0) runs.push_back({from, sends[rank], layout.begin(static_cast<int>(rank)) + places[rank]});
    from += sends[rank];
  }
  deliver(place, block, width, runs, layout, target.get());
  return target;
}

}  // namespace hocket::sort
