#pragma once
/// Measured costs of empty messages (latency) where the program runs.
#include <mpi.h>

namespace hocket::runtime {

/// Seconds, the largest over the ranks.
struct SmallCosts {
  /// Seconds from the start of a one-byte message to the arrival of the token that answers it, by each of the messages
  /// that a rank has then sent or got: the per-message cost (latency) that a schedule pays in every phase.
  double step_seconds = 0;
  double agree_seconds = 0;  ///< a reduction of one number
};

/// The largest over the ranks. Collective.
[[nodiscard]] double slowest(MPI_Comm comm, double here);

/// Seconds of a reduction of one number, the mean of two: where ranks outnumber cores few of them take most of the
/// time. One before them does not count: it may open connections. The largest over the ranks. Collective.
[[nodiscard]] double measure_agreement(MPI_Comm comm);

/// Measures messages between the ranks of `stepping`, a subset of `own` (MPI_COMM_NULL on other ranks). Both must be
/// the runtime's own communicators. Collective over `own`.
[[nodiscard]] SmallCosts measure_small_costs(MPI_Comm own, MPI_Comm stepping);

}  // namespace hocket::runtime
