/* While an exchange is active, a message is longer than who receives it expects: the communicator's own error handler
 * hears of it. Of a message to oneself MPICH's MPI_Test would tell another one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 20000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, in = 0, class;
  const int out[2] = {1, 2};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* from = calloc((size_t)size, COUNT * sizeof(int));
  int* to = calloc((size_t)size, COUNT * sizeof(int));
  MPI_Comm own;
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  MPI_Request request;
  MPI_Alltoall_init(from, COUNT, MPI_INT, to, COUNT, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&request);
    int code = MPI_Sendrecv(out, 2, MPI_INT, 0, 7, &in, 1, MPI_INT, 0, 7, own, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_TRUNCATE) printf("Sendrecv: class %d\n", class);
    MPI_Request send;
    MPI_Isend(out, 2, MPI_INT, 0, 8, own, &send);
    code = MPI_Recv(&in, 1, MPI_INT, 0, 8, own, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_TRUNCATE) printf("Recv: class %d\n", class);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
  MPI_Comm_free(&own);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  free(from);
  free(to);
  return 0;
}
