#include <numeric>
#include <tuple>

#include "core/algorithms/shared/random.hpp"
#include "runtime/progress/waiting.hpp"
#include "sort/core/elements/move.hpp"
#include "sort/core/elements/partition.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/sort/sort.hpp"

namespace hocket::sort {
namespace {

/// The part of each element, and the number of elements per part.
struct Parts {
  PrivateMemory of_element;  ///< std::uint16_t
  BlockCounts counts;

  [[nodiscard]] std::span<const std::uint16_t> parts(std::uint64_t count) const {
    return {reinterpret_cast<const std::uint16_t*>(of_element.data()), count};
  }
};

/// Samples of all ranks for each part. A part's share then varies by 1 / sqrt(8192), 1.1 %: three times that
/// is well within the 5 % that are aimed at.
constexpr std::uint64_t samples_per_part = 8192;
/// Limit on the samples of all ranks, so that rank 0 sorts them quickly. With more than 128 parts it makes them less
/// even.
constexpr std::uint64_t most_samples = std::uint64_t{1} << 20;

/// The start of stretch i of n nearly equal ones in [0, count).
std::uint64_t stretch_begin(std::uint64_t i, std::uint64_t n, std::uint64_t count) {
  return i * (count / n) + std::min(i, count % n);
}

Splitter sample_at(RecordType type, const std::byte* records, int rank, std::uint64_t index) {
  return {order_of(type.key, records + index * type.width), static_cast<std::uint64_t>(rank), index};
}

bool before(const Splitter& a, const Splitter& b) {
  return std::tie(a.order, a.rank, a.index) < std::tie(b.order, b.rank, b.index);
}

/// The number of samples that this rank draws, in proportion to its elements, so that all elements are equally likely.
/// At most all of them, each once.
std::uint64_t samples_of(const Layout& source, int rank, std::uint64_t oversampling) {
  const std::uint64_t own = source.count(rank), total = source.total();
  const std::uint64_t samples = all_samples(total, source.ranks(), oversampling);
  if (own == 0 || samples == 0 || samples == total) return samples == 0 ? 0 : own;
  const double share = static_cast<double>(own) / static_cast<double>(total);
  return std::min(own, static_cast<std::uint64_t>(share * static_cast<double>(samples)) + 1);
}

/// Elements of this rank at random: one from each of `samples` equal stretches.
std::vector<Splitter> draw_samples(const SortTask& task, int rank, std::uint64_t samples, std::uint64_t seed) {
  algorithms::Random random(seed + static_cast<std::uint64_t>(rank) * 0x9e37'79b9'7f4a'7c15u);
  std::vector<Splitter> drawn;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t begin = stretch_begin(i, samples, task.source.count(rank));
    const std::uint64_t length = stretch_begin(i + 1, samples, task.source.count(rank)) - begin;
    const auto limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, UINT32_MAX));
    drawn.push_back(sample_at(task.type, task.records, rank, begin + random.below(limit)));
  }
  return drawn;
}

/// At regular distances in records that are sorted.
std::vector<Splitter> regular_samples(RecordType type, const std::byte* sorted, std::uint64_t count, int rank,
                                      std::uint64_t samples) {
  std::vector<Splitter> taken;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t begin = stretch_begin(i, samples, count), end = stretch_begin(i + 1, samples, count);
    taken.push_back(sample_at(type, sorted, rank, std::midpoint(begin, end)));
  }
  return taken;
}

/// Collective: the samples of all ranks, on rank 0.
std::vector<Splitter> collect(HostSharedContext& place, const std::vector<Splitter>& own) {
  const int bytes = static_cast<int>(own.size() * sizeof(Splitter));
  const auto ranks = static_cast<std::size_t>(place.rank() == 0 ? place.size() : 0);
  std::vector<int> lengths(ranks), begins(ranks);
  run_collective(PMPI_Igather, &bytes, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, place.comm());
  std::exclusive_scan(lengths.begin(), lengths.end(), begins.begin(), 0);
  std::vector<Splitter> all(ranks == 0 ? 0
                                       : static_cast<std::size_t>(begins.back() + lengths.back()) / sizeof(Splitter));
  run_collective(PMPI_Igatherv, own.data(), bytes, MPI_BYTE, all.data(), lengths.data(), begins.data(), MPI_BYTE, 0,
                 place.comm());
  return all;
}

/// Collective: the splitters, one fewer than ranks, that divide the samples of rank 0 evenly. On every rank.
std::vector<Splitter> choose_splitters(HostSharedContext& place, std::vector<Splitter> samples) {
  const auto ranks = static_cast<std::size_t>(place.size());
  std::vector<Splitter> chosen(ranks - 1, Splitter{0, 0, 0});
  if (place.rank() == 0 && !samples.empty()) {
    std::ranges::sort(samples, before);
    for (std::size_t i = 1; i < ranks; ++i) chosen[i - 1] = samples[i * samples.size() / ranks];
  }
  run_collective(PMPI_Ibcast, chosen.data(), static_cast<int>(chosen.size() * sizeof(Splitter)), MPI_BYTE, 0,
                 place.comm());
  return chosen;
}

constexpr std::uint64_t block = 1 << 14;  ///< elements that are counted while they are in the cache

/// Two counters for each part: the same one twice in a row would wait for itself.
void count_parts(std::span<const std::uint16_t> parts, std::span<std::uint64_t> even, std::span<std::uint64_t> odd) {
  std::size_t i = 0;
  for (; i + 1 < parts.size(); i += 2) {
    ++even[parts[i]];
    ++odd[parts[i + 1]];
  }
  if (i < parts.size()) ++even[parts[i]];
}

/// The first of the sorted records that is not before this place.
std::uint64_t first_behind(RecordType type, const std::byte* sorted, std::uint64_t count, std::uint64_t rank,
                           const Splitter& splitter) {
  std::uint64_t begin = 0, end = count;
  while (begin < end) {
    const std::uint64_t middle = begin + (end - begin) / 2;
    const std::uint64_t order = order_of(type.key, sorted + middle * type.width);
    const bool is_before = order != splitter.order
                               ? order < splitter.order
                               : (rank != splitter.rank ? rank < splitter.rank : middle < splitter.index);
    (is_before ? begin : end) = is_before ? middle + 1 : middle;
  }
  return begin;
}

/// Divides unsorted records.
Parts divide(RecordType type, const std::byte* records, std::uint64_t count, int rank,
             std::span<const Splitter> splitters) {
  Parts divided{PrivateMemory(count * sizeof(std::uint16_t)), BlockCounts(splitters.size() + 1)};
  BlockCounts odd(divided.counts.size());
  auto* const of_element = reinterpret_cast<std::uint16_t*>(divided.of_element.data());
  for (std::uint64_t begin = 0; begin < count; begin += block) {
    const std::span here(of_element + begin, std::min(block, count - begin));
    classify(type, records + begin * type.width, here.size(), static_cast<std::uint64_t>(rank), begin, splitters, here);
    count_parts(here, divided.counts, odd);
  }
  for (std::size_t part = 0; part < odd.size(); ++part) divided.counts[part] += odd[part];
  return divided;
}

/// Divides records that this rank has sorted, so that parts are contiguous. A splitter's index refers to that order.
BlockCounts divide_sorted(RecordType type, const std::byte* sorted, std::uint64_t count, int rank,
                          std::span<const Splitter> splitters) {
  BlockCounts counts;
  std::uint64_t begin = 0;
  for (const Splitter& splitter : splitters) {
    const std::uint64_t end = first_behind(type, sorted, count, static_cast<std::uint64_t>(rank), splitter);
    counts.push_back(end - begin);
    begin = end;
  }
  counts.push_back(count - begin);
  return counts;
}

constexpr std::size_t outgoing = 0;  ///< block of the shared context: what is sent

class SampleSort {
 public:
  SampleSort(HostSharedContext& place, SortTask task, const Sampling& sampling, StepClock& clock)
      : place_(place), task_(std::move(task)), sampling_(sampling), clock_(clock), own_(task_.count(place.rank())) {}

  SortedRecords run() {
    const BlockCounts sends = sampling_.regular ? divide_regularly() : divide_at_random();
    exchange_parts(sends);
    return rebalance();
  }

 private:
  [[nodiscard]] int rank() const { return place_.rank(); }
  [[nodiscard]] std::size_t width() const { return task_.type.width; }
  [[nodiscard]] std::byte* own_part(std::size_t slot, std::uint64_t count) {
    return place_.block(slot, count * width()).part(place_.host_rank());
  }
  [[nodiscard]] std::uint64_t samples() const { return samples_of(task_.source, rank(), sampling_.oversampling); }

  [[nodiscard]] std::vector<Splitter> splitters_from(const std::vector<Splitter>& samples) {
    std::vector<Splitter> all = collect(place_, samples);
    clock_.step_over(SampleStep::draw);
    std::vector<Splitter> chosen = choose_splitters(place_, std::move(all));
    clock_.step_over(SampleStep::splitters);
    return chosen;
  }

  /// Both leave this rank's elements in the outgoing block, part by part, and return how many each has.
  BlockCounts divide_at_random() {
    const auto splitters = splitters_from(draw_samples(task_, rank(), samples(), sampling_.seed));
    Parts divided;
    collective_try(place_, [&] { divided = divide(task_.type, task_.records, own_, rank(), splitters); });
    std::vector<std::byte*> places = block_begins(own_part(outgoing, own_), divided.counts, width());
    partition(width(), task_.records, own_, divided.parts(own_), places);
    task_.packed = {};
    clock_.step_over(SampleStep::divide);
    return divided.counts;
  }

  BlockCounts divide_regularly() {
    std::byte* const sorted = own_part(outgoing, own_);
    copy(task_.records, sorted, own_ * width());
    PrivateMemory scratch = std::move(task_.packed);
    collective_try(place_, [&] {
      if (scratch.bytes() < own_ * width()) scratch = PrivateMemory(own_ * width());
    });
    task_.sort_locally(sorted, own_, scratch.data());
    clock_.step_over(SampleStep::local_sort);
    const auto splitters = splitters_from(regular_samples(task_.type, sorted, own_, rank(), samples()));
    BlockCounts counts = divide_sorted(task_.type, sorted, own_, rank(), splitters);
    clock_.step_over(SampleStep::divide);
    return counts;
  }

  /// Then this rank's part is complete, and sorted.
  void exchange_parts(const BlockCounts& sends) {
    const BlockCounts receives = exchange_counts(place_, sends);
    parts_ = Layout::gather(place_.comm(), total_of(receives));
    const std::vector<Run> runs = runs_of(sends, positions_at_targets(place_, receives, parts_));
    collective_try(place_, [&] { sorted_.emplace(rank(), width(), parts_, task_.target.value_or(parts_)); });
    deliver(place_, place_.block(outgoing, 0), width(), runs, parts_, sorted_->data());
    clock_.step_over(SampleStep::exchange);
    const std::uint64_t count = parts_.count(rank());
    task_.sort_locally(sorted_->data(), count, own_part(outgoing, count));
    clock_.step_over(SampleStep::local_sort);
  }

  SortedRecords rebalance() {
    PrivateMemory records = std::move(*sorted_).rebalance(place_, outgoing);
    clock_.step_over(SampleStep::balance);
    return {std::move(records), task_.target.value_or(parts_), imbalance_of(parts_)};
  }

  HostSharedContext& place_;
  SortTask task_;
  const Sampling& sampling_;
  StepClock& clock_;
  std::uint64_t own_;  ///< elements of this rank
  Layout parts_;
  std::optional<SortedPart> sorted_;  ///< once its size is known
};

}  // namespace

std::uint64_t all_samples(std::uint64_t elements, int ranks, std::uint64_t oversampling) {
  const auto parts = static_cast<std::uint64_t>(ranks);
  if (parts == 1) return 0;
  const std::uint64_t wanted =
      oversampling > 0 ? oversampling * parts * (parts - 1) : std::min(samples_per_part * parts, most_samples);
  return std::min(wanted, elements);
}

SortedRecords sample_sort(HostSharedContext& place, SortTask task, const Sampling& sampling, StepClock& clock) {
  return SampleSort(place, std::move(task), sampling, clock).run();
}

int sample_step_count(const Sampling& sampling) {
  return static_cast<int>(std::size(sample_steps)) + (sampling.regular ? 1 : 0);
}

}  // namespace hocket::sort
