#include "sort/mpi/sort/bucket_positions.hpp"

#include <numeric>
#include <span>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/waiting.hpp"
#include "sort/mpi/place/layout.hpp"

namespace hocket::sort {
namespace {

BlockCounts swap_blocks(HostSharedContext& place, const BlockCounts& values, const BlockCounts& sends,
                        const BlockCounts& receives) {
  BlockCounts swapped(total_of(receives));
  exchange_blocks(place, sizeof(std::uint64_t), reinterpret_cast<const std::byte*>(values.data()), sends,
                  reinterpret_cast<std::byte*>(swapped.data()), receives);
  return swapped;
}

/// The sum of `own` over all ranks before this one.
std::uint64_t sum_before(HostSharedContext& place, std::uint64_t own) {
  std::uint64_t sum = 0;
  run_collective(PMPI_Iexscan, &own, &sum, 1, MPI_UINT64_T, MPI_SUM, place.comm());
  return place.rank() == 0 ? 0 : sum;  // MPI leaves it undefined there
}

/// Counts by rank and bucket become positions, bucket after bucket.
void scan_share(HostSharedContext& place, std::span<std::uint64_t> counts, std::size_t buckets) {
  std::uint64_t position = sum_before(place, std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  for (std::size_t bucket = 0; bucket < buckets; ++bucket)
    for (std::size_t i = bucket; i < counts.size(); i += buckets) {
      const std::uint64_t count = counts[i];
      counts[i] = position;
      position += count;
    }
}

}  // namespace

BlockCounts bucket_positions(HostSharedContext& place, const BlockCounts& counts, StepClock& clock) {
  const Layout shares = Layout::balanced(counts.size(), place.size());
  BlockCounts by_owner;
  for (int rank = 0; rank < place.size(); ++rank) by_owner.push_back(shares.count(rank));
  const std::uint64_t own_share = shares.count(place.rank());
  const BlockCounts own_of_all(by_owner.size(), own_share);
  BlockCounts share = swap_blocks(place, counts, by_owner, own_of_all);
  clock.step_over(RadixStep::transpose);
  scan_share(place, share, own_share);
  clock.step_over(RadixStep::scan);
  BlockCounts positions = swap_blocks(place, share, own_of_all, by_owner);
  clock.step_over(RadixStep::untranspose);
  return positions;
}

}  // namespace hocket::sort
