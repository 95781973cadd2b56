#pragma once
/// Ranks agree on a few numbers.
#include <mpi.h>

namespace hocket::runtime {

/// A reduction of a few values that others go on beside. Collective.
class Agreement {
 public:
  /// `own` and `all` are to stay where they are until it is over.
  Agreement(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;
  ~Agreement();
  /// `all` is known from here on.
  void wait();

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// MPI_Allreduce of a few values, without taking the processor from ranks that have work: MPICH's blocking reductions
/// and barriers, from the fifth on, wait in the memory of a host without giving processors up. Eight ranks on two cores
/// then take 27 ms for what their nonblocking forms do in 6 (docs/decisions/0022).
void reduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
/// MPI_Barrier in the same way.
void wait_for_all(MPI_Comm comm);

}  // namespace hocket::runtime
