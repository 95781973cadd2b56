#pragma once
/// The splitters by which a sample sort divides elements.
#include <cstdint>
#include <vector>

#include "sort/core/elements/partition.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/sort/sort_task.hpp"

namespace hocket::sort {

/// Samples of all ranks. `oversampling` is per rank and splitter; 0: as many as keep parts within a few percent of each
/// other.
[[nodiscard]] std::uint64_t all_samples(std::uint64_t elements, int ranks, std::uint64_t oversampling);

/// The number of samples that this rank draws, in proportion to its elements, so that all elements are equally likely.
/// At most all of them, each once.
[[nodiscard]] std::uint64_t samples_of(const Layout& source, int rank, std::uint64_t oversampling);

/// Elements of this rank at random: one from each of `samples` equal stretches.
[[nodiscard]] std::vector<Splitter> draw_samples(const SortTask& task, int rank, std::uint64_t samples,
                                                 std::uint64_t seed);

/// At regular distances in records that are sorted.
[[nodiscard]] std::vector<Splitter> regular_samples(RecordType type, const std::byte* sorted, std::uint64_t count,
                                                    int rank, std::uint64_t samples);

/// Collective: the samples of all ranks, on rank 0.
[[nodiscard]] std::vector<Splitter> collect(HostSharedContext& place, const std::vector<Splitter>& own);

/// Collective: the splitters, one fewer than ranks, that divide the samples of rank 0 evenly. On every rank.
[[nodiscard]] std::vector<Splitter> choose_splitters(HostSharedContext& place, std::vector<Splitter> samples);

}  // namespace hocket::sort
