#pragma once
/// Recording of the program's traffic, for `hocket record`.
#include <mpi.h>

#include <cstdint>

#include "runtime/buffers/vector_call.hpp"
#include "runtime/mpi/neighbours.hpp"

namespace hocket::runtime {

/// Where `recording`: notes a call of the program before it is made; no message is sent. True if that is all there is
/// to do about it: there is no plan to follow. MPI_IN_PLACE sends what the receive side describes.
[[nodiscard]] bool only_recorded(const char* operation, MPI_Comm comm, Reach reach, const VectorSide& sends,
                                 const VectorSide& receives) noexcept;

/// The parts of a vector that ranks exchange, if each is sent directly from the rank that holds it to the one that
/// needs it.
enum class Parts : std::uint8_t {
  from_root,  ///< all of it, to every rank
  to_root,    ///< all of it, from every rank
  to_owners,  ///< from every rank to each what that one adds up
  to_all,     ///< that, and then the sums to every rank
};
/// The overload for broadcasts and reductions. `counts`: elements of each rank's part; of the whole vector but in
/// `to_owners`.
[[nodiscard]] bool only_recorded(const char* operation, MPI_Comm comm, Parts parts, const Numbers& counts,
                                 MPI_Datatype type, int root) noexcept;

/// MPI_Finalize begins: all calls of this rank are recorded.
void end_recording() noexcept;

}  // namespace hocket::runtime
