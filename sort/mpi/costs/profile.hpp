#pragma once
/// The figures by which permuting and sorting choose their ways.
#include <mpi.h>

#include "core/model/memory_profile.hpp"

namespace hocket::sort {

/// The memory profile of the machine of rank 0 of `comm`: from the file HOCKET_MEMORY, else from the user's cache as
/// written by `hocket calibrate memory`, else built in. The same on all ranks, kept with the communicator; collective
/// the first time. A file that cannot be used is warned of once and makes no difference.
[[nodiscard]] const MemoryProfile& memory_profile(MPI_Comm comm);

}  // namespace hocket::sort
