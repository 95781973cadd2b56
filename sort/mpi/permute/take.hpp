#pragma once
/// Fetching elements of a distributed array.
#include <cstddef>
#include <cstdint>
#include <span>

#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"

namespace hocket::sort {

/// The part of this rank. The indices are good.
struct Taking {
  std::size_t width;
  Layout source;
  const std::byte* own;  ///< this rank's part of the source
  std::span<const std::int64_t> indices;
  std::byte* target;
};

/// Collective. Throws on all ranks if an index is out of range.
void check_indices(HostSharedContext& place, const Taking& taking);

/// Requests go to the owners in one exchange, elements come back in another.
void take_packed(HostSharedContext& place, const Taking& taking);

/// Within a host elements are read where they are, or from one copy in shared memory; from other hosts as packed.
void take_chained(HostSharedContext& place, const Taking& taking);

}  // namespace hocket::sort
