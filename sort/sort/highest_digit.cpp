#include "sort/sort/highest_digit.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/requests.hpp"
#include "sort/exchange/rebalance.hpp"
#include "sort/place/collective_try.hpp"
#include "sort/sort/bucket_positions.hpp"
#include "sort/sort/buckets.hpp"

namespace hocket::sort {
namespace {

constexpr double most_imbalance = 1.2;  ///< beyond it other digits first are expected to be faster

/// Where every bucket begins in the whole array: on rank 0 its own part of each does.
BlockCounts bucket_begins(HostSharedContext& place, const BlockCounts& positions) {
  BlockCounts begins = positions;
  run_collective(PMPI_Ibcast, begins.data(), static_cast<int>(begins.size()), MPI_UINT64_T, 0, place.comm());
  return begins;
}

/// Whole buckets for each rank, as near to `wanted` as they allow.
Layout whole_buckets(const BlockCounts& begins, const Layout& wanted) {
  std::vector<std::uint64_t> cuts;
  for (int rank = 1; rank < wanted.ranks(); ++rank) {
    const std::uint64_t cut = wanted.begin(rank);
    const auto above = std::ranges::lower_bound(begins, cut);
    const std::uint64_t next = above == begins.end() ? wanted.total() : *above;
    const std::uint64_t last = above == begins.begin() ? 0 : *std::prev(above);
    cuts.push_back(cut - last < next - cut ? last : next);
  }
  cuts.push_back(wanted.total());
  std::vector<std::uint64_t> counts;
  for (std::uint64_t begin = 0; const std::uint64_t end : cuts) counts.push_back(end - std::exchange(begin, end));
  return Layout(counts);
}

/// Sorts the elements between `first` and `last`, which are ordered by bucket.
void sort_buckets(const SortTask& task, std::byte* records, const BlockCounts& begins, std::uint64_t first,
                  std::uint64_t last) {
  const std::size_t width = task.type.width;
  const auto for_each_bucket = [&](auto act) {
    for (auto begin = std::ranges::lower_bound(begins, first); begin != begins.end() && *begin < last; ++begin) {
      const std::uint64_t end = std::next(begin) == begins.end() ? last : std::min(*std::next(begin), last);
      act(records + (*begin - first) * width, end - *begin);
    }
  };
  std::uint64_t most = 0;
  for_each_bucket([&](std::byte*, std::uint64_t count) { most = std::max(most, count); });
  const PrivateMemory scratch(most * width);
  for_each_bucket([&](std::byte* at, std::uint64_t count) { task.sort_locally(at, count, scratch.data()); });
}

}  // namespace

std::optional<SortedRecords> sort_by_highest_digit(HostSharedContext& place, SortTask& task, Digit digit,
                                                   StepClock& clock) {
  const int rank = place.rank();
  const RecordType type = task.type;
  const std::uint64_t own = task.count(rank);
  const BlockCounts counts = count_buckets(type, task.records, own, digit);
  clock.step_over(RadixStep::bucket_counts);
  const BlockCounts positions = bucket_positions(place, counts, clock);
  const BlockCounts begins = bucket_begins(place, positions);
  const Layout even = Layout::balanced(task.source.total(), place.size());
  const Layout parts = whole_buckets(begins, task.target.value_or(even));
  const double imbalance = imbalance_of(parts);
  if (imbalance > most_imbalance * imbalance_of(task.target.value_or(even))) return std::nullopt;

  const SharedBlock& shared = place.block(0, own * type.width);
  order_by_bucket(type, task.records, own, digit, counts, shared.part(place.host_rank()));
  task.packed = {};
  clock.step_over(RadixStep::presort_copy);
  const Layout wanted = task.target.value_or(parts);
  std::optional<SortedPart> sorted;
  collective_try(place, [&] { sorted.emplace(rank, type.width, parts, wanted); });
  deliver(place, shared, type.width, runs_of(counts, positions), parts, sorted->data());
  clock.step_over(RadixStep::grouped_permute);
  collective_try(place, [&] { sort_buckets(task, sorted->data(), begins, parts.begin(rank), parts.begin(rank + 1)); });
  clock.step_over(RadixStep::local_sort);
  PrivateMemory records = std::move(*sorted).rebalance(place, 0);
  clock.step_over(RadixStep::balance);
  return SortedRecords{std::move(records), wanted, imbalance};
}

}  // namespace hocket::sort
