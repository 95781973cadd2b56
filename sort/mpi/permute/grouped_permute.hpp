#pragma once
/// Permutations of data that is arranged already.
#include <cstddef>
#include <cstdint>
#include <span>

#include "sort/mpi/exchange/deliver.hpp"

namespace hocket::sort {

/// Collective. Throws on all ranks unless the runs of all ranks cover every position of the target exactly once.
void check_runs(HostSharedContext& place, std::span<const Run> runs, const Layout& target);

/// Collective. The runs are good.
void grouped_permute(HostSharedContext& place, std::size_t width, std::span<const Run> runs, const std::byte* source,
                     const Layout& target, std::byte* own);

}  // namespace hocket::sort
