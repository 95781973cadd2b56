#pragma once
/// Recording of the program's traffic, for `hocket record`.
#include <mpi.h>

#include <cstdint>

#include "runtime/buffers/vector_call.hpp"
#include "runtime/mpi/neighbours.hpp"

namespace hocket::runtime {

/// Records the call that this thread is in (Called) before it is made, if `recording`; no message is sent. True if
/// there is no plan to follow, so that nothing else is to be done. MPI_IN_PLACE sends what the receive side describes.
[[nodiscard]] bool only_recorded(MPI_Comm comm, Reach reach, const VectorSide& sends,
                                 const VectorSide& receives) noexcept;

/// The parts of a vector that ranks exchange, if each is sent directly from the rank that holds it to the one that
/// needs it.
enum class Parts : std::uint8_t {
  from_root,  ///< all of it, to every rank
  to_root,    ///< all of it, from every rank
  to_owners,  ///< from every rank to each, the part that the receiver reduces
  to_all,     ///< to_owners, then the results to every rank
};
/// The overload for broadcasts and reductions. `counts`: elements of each rank's part; of the whole vector but in
/// `to_owners`.
[[nodiscard]] bool only_recorded(MPI_Comm comm, Parts parts, const Numbers& counts, MPI_Datatype type,
                                 int root) noexcept;

/// MPI_Finalize begins: all calls of this rank are recorded.
void end_recording() noexcept;

}  // namespace hocket::runtime
