#pragma once
/// MPI_Alltoallv as the runtime serves it, for others than the shim.
#include <mpi.h>

#include "runtime/mpi/entry.hpp"
#include "runtime/mpi/locally_sized.h"

HOCKET_CALL hocket_alltoallv(ONE_TYPE_PARAMETERS(int, int));
