/* Erroneous reductions and broadcasts: the MPI library says so, by the communicator's handler. Knows nothing of Hocket.
 * Usage: reduce_errors ; prints "ok <checks>" from rank 0, exits 1 where no error was found. */
#include <mpi.h>
#include <stdlib.h>

#include "checks.h"

enum { COUNT = 20000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int n;
  MPI_Comm_size(comm, &n);
  int *from = calloc(COUNT * n, sizeof(int)), *to = calloc(COUNT * n, sizeof(int)), *counts = calloc(n, sizeof(int));
  for (int i = 0; i < n; ++i) counts[i] = i == 1 ? -1 : COUNT;
  MPI_Allreduce(from, to, COUNT, MPI_INT, MPI_SUM, comm); /* one that is right, so that there is a plan */
  MPI_Bcast(to, COUNT, MPI_INT, 0, comm);
  check(MPI_Allreduce(from, to, -1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS);
  check(MPI_Allreduce(from, to, COUNT, MPI_DATATYPE_NULL, MPI_SUM, comm) != MPI_SUCCESS);
  check(MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS);
  check(MPI_Reduce(from, to, COUNT, MPI_INT, MPI_SUM, n, comm) != MPI_SUCCESS);
  check(MPI_Bcast(to, COUNT, MPI_INT, -1, comm) != MPI_SUCCESS);
  check(MPI_Bcast(to, -1, MPI_INT, 0, comm) != MPI_SUCCESS);
  check(MPI_Bcast(to, COUNT, MPI_DATATYPE_NULL, 0, comm) != MPI_SUCCESS);
  check(MPI_Allreduce(from, to, COUNT, MPI_INT, MPI_OP_NULL, comm) != MPI_SUCCESS);
  check(MPI_Allreduce(from, to, COUNT, MPI_FLOAT, MPI_BAND, comm) != MPI_SUCCESS);
  check(MPI_Reduce_scatter_block(from, to, COUNT, MPI_DOUBLE, MPI_BXOR, comm) != MPI_SUCCESS);
  check(MPI_Reduce(from, to, COUNT, MPI_2INT, MPI_SUM, 0, comm) != MPI_SUCCESS);
  MPI_Allreduce(from, to, COUNT, MPI_INT, MPI_SUM, comm);
  free(from);
  free(to);
  free(counts);
  MPI_Comm_free(&comm);
  return report();
}
