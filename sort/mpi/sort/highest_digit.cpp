#include "sort/mpi/sort/highest_digit.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/waiting.hpp"
#include "sort/core/elements/partition.hpp"
#include "sort/mpi/exchange/rebalance.hpp"
#include "sort/mpi/place/collective_try.hpp"
#include "sort/mpi/sort/bucket_positions.hpp"
#include "sort/mpi/sort/buckets.hpp"

namespace hocket::sort {
namespace {

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

}  // namespace

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

}  // namespace hocket::sort
