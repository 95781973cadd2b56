#pragma once
/// What a step of a chain of messages costs where the program runs.
#include <mpi.h>

namespace hocket::runtime {

/// Seconds from the start of a one-byte message to the arrival of the token that answers it, while all ranks of `own`
/// do the same: what a schedule adds to the bytes for every phase. The largest over the ranks, a mean of some steps.
/// Collective; `own` is the runtime's alone.
[[nodiscard]] double measure_step(MPI_Comm own);

}  // namespace hocket::runtime
