#include "sort/mpi/sort/radix_sort.hpp"

#include <algorithm>
#include <vector>

#include "sort/mpi/exchange/deliver.hpp"
#include "sort/mpi/place/collective_try.hpp"
#include "sort/mpi/sort/bucket_positions.hpp"
#include "sort/mpi/sort/buckets.hpp"
#include "sort/mpi/sort/highest_digit.hpp"

namespace hocket::sort {
namespace {

/// The talk's sort: least significant digit first, every pass through the network.
SortedRecords sort_by_all_digits(HostSharedContext& place, SortTask task, std::span<const Digit> digits,
                                 StepClock& clock) {
  const int rank = place.rank();
  const Layout even = Layout::balanced(task.source.total(), place.size());
  const Layout target = task.target.value_or(even);
  const std::size_t width = task.type.width;
  const std::uint64_t most = radix_room(rank, task.source, task.target);
  const SharedBlock& shared = place.block(0, most * width);
  std::byte* const presorted = shared.part(place.host_rank());
  PrivateMemory sorted;
  collective_try(place, [&] {
    sorted = task.packed.bytes() < most * width ? PrivateMemory(most * width) : std::move(task.packed);
  });

  const std::byte* records = task.records;
  std::uint64_t count = task.source.count(rank);
  for (const Digit& digit : digits) {
    const Layout& to = &digit == &digits.back() ? target : even;
    const BlockCounts counts = count_buckets(task.type, records, count, digit);
    clock.step_over(RadixStep::bucket_counts);
    const BlockCounts positions = bucket_positions(place, counts, clock);
    order_by_bucket(task.type, records, count, digit, counts, presorted);
    clock.step_over(RadixStep::presort_copy);
    deliver(place, shared, width, runs_of(counts, positions), to, sorted.data());
    clock.step_over(RadixStep::grouped_permute);
    records = sorted.data();
    count = to.count(rank);
  }
  return {std::move(sorted), target, imbalance_of(even)};
}

int steps_of(std::span<const Digit> digits) { return talk_steps * static_cast<int>(digits.size()); }

}  // namespace

SortedRecords radix_sort(HostSharedContext& place, SortTask task, const RadixDigits& digits, StepClock& clock) {
  if (digits.highest) {
    if (auto sorted = sort_by_highest_digit(place, task, *digits.highest, clock)) return std::move(*sorted);
    clock.expect_more(highest_digit_steps_before + steps_of(digits.all) - highest_digit_steps);
  }
  return sort_by_all_digits(place, std::move(task), digits.all, clock);
}

std::uint64_t radix_room(int rank, const Layout& source, const std::optional<Layout>& target) {
  const std::uint64_t even = Layout::balanced(source.total(), source.ranks()).count(rank);
  return std::max({source.count(rank), even, target ? target->count(rank) : 0});
}

int radix_step_count(const RadixDigits& digits) { return digits.highest ? highest_digit_steps : steps_of(digits.all); }

}  // namespace hocket::sort
