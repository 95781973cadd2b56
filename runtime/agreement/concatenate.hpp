#pragma once
/// The distributed concatenation of destination vectors, with which scheduling begins (Wang, Lin and
/// Ranka, section 2).
#include <mpi.h>

#include <span>

#include "core/demand/demand.hpp"
#include "runtime/buffers/peer_bytes.hpp"

namespace hocket::runtime {

/// Gathers every rank's row into the whole traffic matrix, on every rank. Memory and traffic are proportional to ranks
/// and messages. Collective. Throws InputError on all ranks alike if the sizes add up to too much.
[[nodiscard]] TrafficMatrix concatenate(MPI_Comm comm, std::span<const Volume> sends);

}  // namespace hocket::runtime
