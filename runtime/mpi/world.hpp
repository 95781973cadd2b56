#pragma once
/// The processes this one was started with, also where there is no MPI_COMM_WORLD (programs that only open sessions).
#include <mpi.h>

#include <optional>
#include <vector>

namespace hocket::runtime {

/// Between MPI_Init and MPI_Finalize: MPI_COMM_WORLD and MPI_COMM_SELF may be used.
[[nodiscard]] bool in_world();
/// This process among those that the launcher started; nothing if MPI_Comm_spawn started it.
[[nodiscard]] std::optional<int> launched_rank();

/// The ranks of a communicator as MPI_COMM_WORLD numbers them, or would if there were one; MPI_UNDEFINED of processes
/// that were started apart from this one.
[[nodiscard]] std::vector<int> world_ranks(MPI_Comm comm);

}  // namespace hocket::runtime
