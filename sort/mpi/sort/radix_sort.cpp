#include <numeric>

#include "runtime/progress/waiting.hpp"
#include "sort/core/elements/partition.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/sort/sort.hpp"

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

/// Collective. `counts`: of this rank's elements in each bucket. Returns where in the whole array each of this rank's
/// buckets begins, if elements are ordered by bucket, and by rank within a bucket.
///
/// Every rank scans its share of the buckets: the counts are transposed, so that a rank has those of all ranks, and
/// the positions are transposed back.
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

BlockCounts count_buckets(RecordType type, const std::byte* records, std::uint64_t count, Digit digit) {
  BlockCounts counts(std::size_t{1} << digit.bits);
  count_digits(type, records, count, digit, counts);
  return counts;
}

/// The presort copy: the records ordered by bucket in `to`. `counts`: of each bucket.
void order_by_bucket(RecordType type, const std::byte* records, std::uint64_t count, Digit digit,
                     const BlockCounts& counts, std::byte* to) {
  std::vector<std::byte*> places = block_begins(to, counts, type.width);
  partition(type, records, count, digit, places);
}

/// The number of steps reported if it completes, and if it gives up.
inline constexpr int highest_digit_steps = 8, highest_digit_steps_before = 4;

constexpr double most_imbalance = 1.2;                   ///< beyond it other digits first are expected to be faster
constexpr std::uint64_t large = std::uint64_t{1} << 23;  ///< bytes of a rank whose memory is worth another wait

/// A stretch of this rank's elements: those for other ranks of one after the other go through the same shared memory.
struct Round {
  std::uint64_t begin, count;
  BlockCounts counts;  ///< elements per bucket
};

std::vector<Round> count_rounds(const SortTask& task, int rank, Digit digit) {
  const std::uint64_t own = task.count(rank), width = task.type.width;
  const std::uint64_t rounds =
      task.source.total() * width > large * static_cast<std::uint64_t>(task.source.ranks()) ? 2 : 1;
  std::vector<Round> all;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t begin = own * round / rounds, count = own * (round + 1) / rounds - begin;
    all.push_back({begin, count, count_buckets(task.type, task.records + begin * width, count, digit)});
  }
  return all;
}

BlockCounts sum_of(const std::vector<Round>& rounds) {
  BlockCounts sums = rounds.front().counts;
  for (std::size_t round = 1; round < rounds.size(); ++round)
    std::ranges::transform(sums, rounds[round].counts, sums.begin(), std::plus{});
  return sums;
}

/// The destinations of a round's records: those of this rank's own buckets go directly to their positions, the others
/// bucket by bucket into `out`, from which runs deliver them.
struct Ways {
  std::vector<std::byte*> places;
  std::vector<Run> runs;
  std::uint64_t leaving = 0;  ///< elements for other ranks
};

/// `positions`: of the next record of this rank in each bucket; they move on.
Ways ways_of(const Round& round, BlockCounts& positions, std::size_t width, const Layout& parts, int rank,
             std::byte* own, std::byte* out) {
  Ways ways;
  for (std::size_t bucket = 0; bucket < round.counts.size(); ++bucket) {
    const std::uint64_t count = round.counts[bucket], to = positions[bucket];
    positions[bucket] += count;
    if (to >= parts.begin(rank) && to < parts.begin(rank + 1)) {
      ways.places.push_back(own + (to - parts.begin(rank)) * width);
      continue;
    }
    ways.places.push_back(out + ways.leaving * width);
    if (count > 0) ways.runs.push_back({ways.leaving, count, to});
    ways.leaving += count;
  }
  return ways;
}

/// Elements for other ranks in the round that has the most of them.
std::uint64_t most_leaving(const std::vector<Round>& rounds, BlockCounts positions, const Layout& parts, int rank) {
  std::uint64_t most = 0;
  for (const Round& round : rounds)
    most = std::max(most, ways_of(round, positions, 0, parts, rank, nullptr, nullptr).leaving);
  return most;
}

/// The start of every bucket in the whole array: the start of rank 0's own part of it.
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

/// Collective. The six steps of the radix sort for this one digit, after which every rank has whole buckets, so that
/// it can sort each by itself, in its caches; then what is on the wrong rank is exchanged. Stable. `digit`: the highest
/// bits in which keys differ.
///
/// Nothing, on all ranks alike, if the buckets would leave one rank with far more than its part; the task is as it was
/// then.
std::optional<SortedRecords> sort_by_highest_digit(HostSharedContext& place, SortTask& task, Digit digit,
                                                   StepClock& clock) {
  const int rank = place.rank();
  const RecordType type = task.type;
  const std::vector<Round> rounds = count_rounds(task, rank, digit);
  const BlockCounts counts = sum_of(rounds);
  clock.step_over(RadixStep::bucket_counts);
  BlockCounts positions = bucket_positions(place, counts, clock);
  const BlockCounts begins = bucket_begins(place, positions);
  const Layout even = Layout::balanced(task.source.total(), place.size());
  const Layout parts = whole_buckets(begins, task.target.value_or(even));
  const double imbalance = imbalance_of(parts);
  if (imbalance > most_imbalance * imbalance_of(task.target.value_or(even))) return std::nullopt;

  const SharedBlock& shared = place.block(0, most_leaving(rounds, positions, parts, rank) * type.width);
  clock.expect_more(2 * (static_cast<int>(rounds.size()) - 1));
  const Layout wanted = task.target.value_or(parts);
  std::optional<SortedPart> sorted;
  collective_try(place, [&] { sorted.emplace(rank, type.width, parts, wanted); });
  for (const Round& round : rounds) {
    Ways ways = ways_of(round, positions, type.width, parts, rank, sorted->data(), shared.part(place.host_rank()));
    partition(type, task.records + round.begin * type.width, round.count, digit, ways.places);
    if (&round == &rounds.back()) task.packed = {};
    clock.step_over(RadixStep::presort_copy);
    deliver(place, shared, type.width, ways.runs, parts, sorted->data());
    clock.step_over(RadixStep::grouped_permute);
  }
  collective_try(place, [&] { sort_buckets(task, sorted->data(), begins, parts.begin(rank), parts.begin(rank + 1)); });
  clock.step_over(RadixStep::local_sort);
  PrivateMemory records = std::move(*sorted).rebalance(place, 0);
  clock.step_over(RadixStep::balance);
  return SortedRecords{std::move(records), wanted, imbalance};
}

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
