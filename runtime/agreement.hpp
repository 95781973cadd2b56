#pragma once
/// What all ranks of a communicator must hear of, so that they decide alike.
#include <mpi.h>

#include <string>

#include "planned.hpp"

namespace hocket::runtime {

[[nodiscard]] int world_rank();

/// MPI_Allreduce of a few values, without taking the processor from ranks that have work.
void reduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/// What rank `source` has to say, and what follows from it; said once, by the first rank of the job
/// if it is in this communicator. Collective.
void warn(MPI_Comm comm, int source, const std::string& text, const std::string& consequence);

/// False if any rank has a problem (empty: none); the first one's is then said. Collective.
[[nodiscard]] bool all_well(MPI_Comm comm, const std::string& problem, const std::string& consequence);

/// Every send has a tag for its tokens (exchange.hpp). Throws InputError if this MPI has too few.
void check_tags(const Planned& planned, MPI_Comm comm);

}  // namespace hocket::runtime
