#pragma once
/// Memory that programs get from hocket_alloc().
#include <cstddef>
#include <vector>

#include "sort/mpi/place/host_shared_context.hpp"

namespace hocket::sort {

/// Collective. `bytes` of this rank; nullptr where it is none.
[[nodiscard]] std::byte* allocate_shared(HostSharedContext& place, std::size_t bytes);
/// Collective. Throws on all ranks if `memory` is not what they got together (nullptr: where it was).
void release_shared(HostSharedContext& place, const void* memory);

/// Collective. Where the `bytes` at `memory` of every rank of this host are for this rank, in the order of host();
/// empty, on all ranks alike, unless all of them come from one hocket_alloc() of the same host's ranks.
[[nodiscard]] std::vector<const std::byte*> find_shared(HostSharedContext& place, const void* memory,
                                                        std::size_t bytes);

/// Collective. What find_shared() finds, or else a copy in a block of the shared context; of every rank of the host. To
/// be read after HostSharedContext::meet_host().
[[nodiscard]] std::vector<const std::byte*> shared_or_copied(HostSharedContext& place, const void* memory,
                                                             std::size_t bytes);

}  // namespace hocket::sort
