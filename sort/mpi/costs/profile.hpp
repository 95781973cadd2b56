#pragma once
/// The figures by which permuting and sorting choose their ways.
#include <mpi.h>

#include "core/model/memory_profile.hpp"

namespace hocket::sort {

/// Of the machine that rank 0 of `comm` is on: of the file that HOCKET_MEMORY names, or else of what
/// `hocket calibrate memory` has left in the user's cache, or else built in. The same on all ranks, kept with the
/// communicator; collective the first time. A file that cannot be used is warned of once and makes no difference.
[[nodiscard]] const MemoryProfile& memory_profile(MPI_Comm comm);

}  // namespace hocket::sort
