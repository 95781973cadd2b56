#pragma once
/// An all-to-all of blocks of elements, with 64-bit counts.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"

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

// The grouped permute: contiguous runs of elements go to where they belong.

/// `count` elements in a row of the source go to consecutive positions from `to` on.
struct Run {
  std::uint64_t from;   ///< first element, in this rank's source
  std::uint64_t count;  ///< elements
  std::uint64_t to;     ///< position in the target array
};

/// Runs that lie one behind the other in the source: `counts[i]` elements to `positions[i]`.
[[nodiscard]] std::vector<Run> runs_of(const BlockCounts& counts, const BlockCounts& positions);

/// Collective. Where in the target this rank's blocks begin, if what a rank receives is in the order of senders.
[[nodiscard]] BlockCounts positions_at_targets(HostSharedContext& place, const BlockCounts& receives,
                                               const Layout& target);

/// Runs cut where the target changes rank, by target rank and then by position.
[[nodiscard]] std::vector<std::vector<Run>> by_target(std::span<const Run> runs, const Layout& target);

/// Collective. Delivers the runs of all ranks, of which no two have a position of `target` in common (the caller has
/// made sure); positions that none has stay as they are. `source` is the part of this rank in a block of the shared
/// context. Ranks of one host copy from each other's parts; between hosts runs are exchanged by MPI_Alltoallv, as the
/// runtime schedules it. What a rank sends to another is in the order of positions.
///
/// On return `own` is complete, and no other rank reads this rank's part any more.
void deliver(HostSharedContext& place, const SharedBlock& source, std::size_t width, std::span<const Run> runs,
             const Layout& target, std::byte* own);

/// Memory of one rank for its part of a sorted array as it falls, and as it is wanted. Elements already on their rank
/// do not move.
class SortedPart {
 public:
  /// Throws std::bad_alloc.
  SortedPart(int rank, std::size_t width, const Layout& falls, const Layout& wanted);

  /// The memory of the part as it falls.
  [[nodiscard]] std::byte* data() const { return memory_.data() + (falls_.begin(rank_) - first_) * width_; }
  /// Collective. Exchanges what is on the wrong rank, by a block of the shared context. Returns the part as it is
  /// wanted.
  [[nodiscard]] PrivateMemory rebalance(HostSharedContext& place, std::size_t slot) &&;

 private:
  int rank_;
  std::size_t width_;
  Layout falls_, wanted_;
  std::uint64_t first_;  ///< position of the first element that there is room for
  PrivateMemory memory_;
};

}  // namespace hocket::sort
