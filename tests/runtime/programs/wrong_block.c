/* An all-gather of contributions that do not fit their blocks: an error that the caller's handler gets. Knows nothing
 * of Hocket. Prints "ok <checks>" from rank 0. */
#include <mpi.h>
#include <stdlib.h>

#include "checks.h"

int main(int argc, char** argv) {
  enum { BYTES = 20000 };
  MPI_Comm comm;
  int n;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_size(comm, &n);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  char *in = calloc((size_t)n, BYTES), *out = calloc(2, BYTES);
  check(MPI_Allgather(out, 2 * BYTES, MPI_BYTE, in, BYTES, MPI_BYTE, comm) != MPI_SUCCESS);
  free(in);
  free(out);
  MPI_Comm_free(&comm);
  return report();
}
