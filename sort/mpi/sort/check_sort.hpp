#pragma once
/// Checks of the arguments of a sort on all ranks.
#include "hocket_sort.h"
#include "sort/mpi/place/host_shared_context.hpp"

namespace hocket::sort {

/// The arguments of hocket_sort() on this rank.
struct SortArguments {
  hocket_sort_options options;
  int key_type;
  std::int64_t count;
  const void* keys;
  std::size_t payload_width;
  const void* payload;
};

/// Collective. Throws ApiError on all ranks if arguments of any make no sense, or if they differ where they must be the
/// same. `sorted`: where the result goes.
void check_sort(HostSharedContext& place, const SortArguments& arguments, const void* sorted);

}  // namespace hocket::sort
