#include "radix_sort.hpp"

#include <algorithm>
#include <vector>

#include "agreed.hpp"
#include "bucket_positions.hpp"
#include "deliver.hpp"
#include "hocket/elements/partition.hpp"

namespace hocket::runtime {
namespace {

BlockCounts count_buckets(RecordType type, const std::byte* records, std::uint64_t count, Digit digit) {
  BlockCounts counts(std::size_t{1} << digit.bits);
  count_digits(type, records, count, digit, counts);
  return counts;
}

/// Where each bucket goes: bucket after bucket from element 0 of the source on.
std::vector<Run> runs_of(const BlockCounts& counts, const BlockCounts& positions) {
  std::vector<Run> runs;
  std::uint64_t from = 0;
  for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
    if (counts[bucket] > 0) runs.push_back({from, counts[bucket], positions[bucket]});
    from += counts[bucket];
  }
  return runs;
}

/// Orders the records by bucket in `to`.
void presort(RecordType type, const std::byte* records, std::uint64_t count, Digit digit, const BlockCounts& counts,
             std::byte* to) {
  std::vector<std::byte*> places;
  for (const std::uint64_t in_bucket : counts) {
    places.push_back(to);
    to += in_bucket * type.width;
  }
  partition(type, records, count, digit, places);
}

}  // namespace

SortedRecords radix_sort(Workplace& place, SortTask task, std::span<const Digit> digits, StepClock& clock) {
  if (place.size() == 1) {
    Layout layout = task.source;
    PrivateMemory sorted = sort_alone(std::move(task));
    clock.step_over(RadixStep::presort_copy);
    return {std::move(sorted), std::move(layout), 1};
  }
  const int rank = place.rank();
  const Layout even = Layout::balanced(task.source.total(), place.size());
  const Layout target = task.target.value_or(even);
  const std::size_t width = task.type.width;
  const std::uint64_t most = radix_room(rank, task.source, task.target);
  SharedBlock& shared = place.block(0, most * width);
  std::byte* const presorted = shared.part(place.host_rank());
  PrivateMemory sorted;
  agreed(place, [&] {
    sorted = task.packed.bytes() < most * width ? PrivateMemory(most * width) : std::move(task.packed);
  });

  const std::byte* records = task.records;
  std::uint64_t count = task.source.count(rank);
  for (const Digit& digit : digits) {
    const Layout& to = &digit == &digits.back() ? target : even;
    const BlockCounts counts = count_buckets(task.type, records, count, digit);
    clock.step_over(RadixStep::bucket_counts);
    const BlockCounts positions = bucket_positions(place, counts, clock);
    presort(task.type, records, count, digit, counts, presorted);
    clock.step_over(RadixStep::presort_copy);
    deliver(place, shared, width, runs_of(counts, positions), to, sorted.data());
    clock.step_over(RadixStep::grouped_permute);
    records = sorted.data();
    count = to.count(rank);
  }
  return {std::move(sorted), target, imbalance_of(even)};
}

std::uint64_t radix_room(int rank, const Layout& source, const std::optional<Layout>& target) {
  const std::uint64_t even = Layout::balanced(source.total(), source.ranks()).count(rank);
  return std::max({source.count(rank), even, target ? target->count(rank) : 0});
}

int radix_step_count(const Workplace& place, std::span<const Digit> digits) {
  return place.size() == 1 ? 1 : static_cast<int>(std::size(radix_steps) * digits.size());
}

}  // namespace hocket::runtime
