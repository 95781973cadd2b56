/* Erroneous calls at sizes that are scheduled: rank 0 prints, for each and by each error handler, the class of what
 * comes back and how often the program's own handler was called. */
#include <string.h>

#include "exchanges.h"

static int handled;
static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

static void tell(MPI_Comm comm, const char* what, int code) {
  int rank, class = MPI_SUCCESS;
  MPI_Comm_rank(comm, &rank);
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  if (rank == 0) printf("%s: class %d, %d handled\n", what, class, handled);
  handled = 0;
}

int main(int argc, char** argv) {
  enum { count = 5000 };
  int n;
  MPI_Comm comm;
  MPI_Errhandler own;
  MPI_Datatype loose;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  int *in = calloc((size_t)count * n, sizeof(int)), *out = calloc((size_t)count * n, sizeof(int));
  int *counts = calloc((size_t)n, sizeof(int)), *places = calloc((size_t)n, sizeof(int));
  MPI_Comm_create_errhandler(handler, &own);
  MPI_Type_contiguous(2, MPI_INT, &loose); /* not committed */
  for (int by = 0; by < 2; ++by) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, by ? own : MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, by ? own : MPI_ERRORS_RETURN);
    MPI_Request request; /* of a communicator that has no plan yet */
    tell(comm, "begun", MPI_Ialltoall(out, count, MPI_INT, in, count, MPI_INT, comm, &request));
    tell(comm, "barrier of none", MPI_Barrier(MPI_COMM_NULL));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    exchange_all(comm, count, 0);
    tell(comm, "right", MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm));
    tell(comm, "no communicator", MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_NULL));
    tell(comm, "no type", MPI_Alltoall(out, count, MPI_DATATYPE_NULL, in, count, MPI_INT, comm));
    tell(comm, "no type to receive", MPI_Alltoall(out, count, MPI_INT, in, count, MPI_DATATYPE_NULL, comm));
    tell(comm, "loose type", MPI_Alltoall(out, count / 2, loose, in, count, MPI_INT, comm));
    tell(comm, "negative count", MPI_Alltoall(out, -1, MPI_INT, in, count, MPI_INT, comm));
    tell(comm, "one buffer", MPI_Alltoall(in, count, MPI_INT, in, count, MPI_INT, comm));
#ifndef OPEN_MPI /* 5.0 does not look before it uses them */
    tell(comm, "gather: no type", MPI_Allgather(out, count, MPI_DATATYPE_NULL, in, count, MPI_INT, comm));
    tell(comm, "gather: no communicator", MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_NULL));
#endif
    tell(comm, "gather: loose type", MPI_Allgather(out, count / 2, loose, in, count, MPI_INT, comm));
    tell(comm, "gather: negative count", MPI_Allgather(out, count, MPI_INT, in, -1, MPI_INT, comm));
    for (int j = 0; j < n; ++j) counts[j] = count, places[j] = j * count;
    tell(comm, "vector: no type",
         MPI_Alltoallv(out, counts, places, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, comm));
    tell(comm, "vector: no communicator",
         MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_NULL));
    for (int round = 0; round < 3; ++round)
      tell(comm, "vector: right", MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm));
#ifndef OPEN_MPI /* does not look */
    tell(comm, "vector: one buffer", MPI_Alltoallv(in, counts, places, MPI_INT, in, counts, places, MPI_INT, comm));
    tell(comm, "vector: no buffer", MPI_Alltoallv(NULL, counts, places, MPI_INT, in, counts, places, MPI_INT, comm));
#endif
    counts[n - 1] = -3;
    tell(comm, "vector: negative count",
         MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm));
#if MPI_VERSION >= 4
    MPI_Alltoall_init(out, count, MPI_INT, in, count, MPI_INT, comm, MPI_INFO_NULL, &request);
    tell(comm, "started", MPI_Start(&request));
    if (!by) tell(comm, "started twice", MPI_Start(&request)); /* MPICH hides it after a handler */
    tell(comm, "over", MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Request_free(&request);
#endif
    exchange_all(comm, count, 1);
    MPI_Comm_free(&comm);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  return report();
}
