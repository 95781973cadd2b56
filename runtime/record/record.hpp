#pragma once
/// What the program's calls send, for `hocket record`.
#include <mpi.h>

#include "runtime/buffers/vector_call.hpp"
#include "runtime/mpi/neighbours.hpp"

namespace hocket::runtime {

/// Where `recording`: notes a call of the program before it is made; no message is sent. True if that is all there is
/// to do about it: there is no plan to follow. MPI_IN_PLACE sends what the receive side describes.
[[nodiscard]] bool only_recorded(const char* operation, MPI_Comm comm, Reach reach, const VectorSide& sends,
                                 const VectorSide& receives) noexcept;

/// MPI_Finalize begins: all calls of this rank are recorded.
void end_recording() noexcept;

}  // namespace hocket::runtime
