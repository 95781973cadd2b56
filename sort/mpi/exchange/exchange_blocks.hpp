#pragma once
/// An all-to-all of blocks of elements, with 64-bit counts.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/mpi/place/host_shared_context.hpp"

namespace hocket::sort {

/// One block per rank of the shared context, in the order of ranks, without gaps: how many elements each has.
using BlockCounts = std::vector<std::uint64_t>;

[[nodiscard]] std::uint64_t total_of(const BlockCounts& counts);

/// The starts of consecutive blocks. `step`: number of T per element.
template <class T>
[[nodiscard]] std::vector<T*> block_begins(T* memory, const BlockCounts& counts, std::size_t step) {
  std::vector<T*> begins;
  begins.reserve(counts.size());
  for (const std::uint64_t count : counts) {
    begins.push_back(memory);
    memory += count * step;
  }
  return begins;
}

/// Collective: how many elements every rank sends to this one.
[[nodiscard]] BlockCounts exchange_counts(HostSharedContext& place, const BlockCounts& sends);

/// Collective. Sends the blocks of `from` and receives those of `to`, of elements of `width` bytes (from 1 to 2^31 -
/// 1); `receives` as exchange_counts() says. Over a network that is known, as MPI_Alltoallv is scheduled; else it
/// sleeps while it waits.
void exchange_blocks(HostSharedContext& place, std::size_t width, const std::byte* from, const BlockCounts& sends,
                     std::byte* to, const BlockCounts& receives);

}  // namespace hocket::sort
