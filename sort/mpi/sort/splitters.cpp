#include "sort/mpi/sort/splitters.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/algorithms/shared/random.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::sort {
namespace {

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

}  // namespace

std::uint64_t all_samples(std::uint64_t elements, int ranks, std::uint64_t oversampling) {
  const auto parts = static_cast<std::uint64_t>(ranks);
  if (parts == 1) return 0;
  const std::uint64_t wanted =
      oversampling > 0 ? oversampling * parts * (parts - 1) : std::min(samples_per_part * parts, most_samples);
  return std::min(wanted, elements);
}

std::uint64_t samples_of(const Layout& source, int rank, std::uint64_t oversampling) {
  const std::uint64_t own = source.count(rank), total = source.total();
  const std::uint64_t samples = all_samples(total, source.ranks(), oversampling);
  if (own == 0 || samples == 0 || samples == total) return samples == 0 ? 0 : own;
  const double share = static_cast<double>(own) / static_cast<double>(total);
  return std::min(own, static_cast<std::uint64_t>(share * static_cast<double>(samples)) + 1);
}

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

std::vector<Splitter> regular_samples(RecordType type, const std::byte* sorted, std::uint64_t count, int rank,
                                      std::uint64_t samples) {
  std::vector<Splitter> taken;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t begin = stretch_begin(i, samples, count), end = stretch_begin(i + 1, samples, count);
    taken.push_back(sample_at(type, sorted, rank, std::midpoint(begin, end)));
  }
  return taken;
}

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

}  // namespace hocket::sort
