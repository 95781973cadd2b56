/* After a first nonblocking call one rank errs in a broadcast, and comes to it again only when the root has been there:
 * nobody may wait for it. */
#include <mpi.h>
#include <stdlib.h>

#include "checks.h"

enum { COUNT = 20000 };

int main(int argc, char** argv) {
  int n, rank, number = 0;
  MPI_Comm comm;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  int *out = calloc((size_t)COUNT * n, sizeof(int)), *in = calloc((size_t)COUNT * n, sizeof(int));
  MPI_Ialltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == n - 1) {
    check(MPI_Bcast(&number, -1, MPI_INT, 0, comm) != MPI_SUCCESS);
    MPI_Recv(&number, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  }
  if (rank == 0) number = 7;
  check(MPI_Bcast(&number, 1, MPI_INT, 0, comm) == MPI_SUCCESS && number == 7);
  if (rank == 0) MPI_Send(&number, 1, MPI_INT, n - 1, 0, comm);
  for (int call = 0; call < 3; ++call) {
    MPI_Barrier(comm);
    MPI_Ialltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(out);
  free(in);
  MPI_Comm_free(&comm);
  return report();
}
