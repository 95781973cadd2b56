#pragma once
/// A place to ask the MPI library something that concerns no other rank.
#include <mpi.h>

namespace hocket::runtime {

/// A communicator of this rank alone, its own only neighbour, whose errors the program does not hear of.
/// MPI_COMM_NULL in programs that only open sessions: they have nothing to make one of.
[[nodiscard]] MPI_Comm alone();

}  // namespace hocket::runtime
