#pragma once
/// The grouped permute: contiguous runs of elements go to where they belong.
#include <cstddef>
#include <cstdint>
#include <span>

#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"

namespace hocket::sort {

/// `count` elements in a row of the source go to consecutive positions from `to` on.
struct Run {
  std::uint64_t from;   ///< first element, in this rank's source
  std::uint64_t count;  ///< elements
  std::uint64_t to;     ///< position in the target array
};

/// Collective. Delivers the runs of all ranks, of which no two have a position of `target` in common (the caller has
/// made sure); positions that none has stay as they are. `source` is the part of this rank in a block of the shared
/// context. Ranks of one host copy from each other's parts; between hosts runs are exchanged by MPI_Alltoallv, as the
/// runtime schedules it. What a rank sends to another is in the order of positions.
///
/// On return `own` is complete, and no other rank reads this rank's part any more.
void deliver(HostSharedContext& place, const SharedBlock& source, std::size_t width, std::span<const Run> runs,
             const Layout& target, std::byte* own);

}  // namespace hocket::sort
