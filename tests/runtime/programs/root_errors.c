/* Erroneous calls with a root, as the MPI library finds them: a line for each from rank 0, with the class of the error,
 * by MPI_ERRORS_RETURN. Knows nothing of Hocket. */
#include <mpi.h>
#include <stdlib.h>

#include "checks.h"

enum { COUNT = 20000 };

static int rank;

/* An error on the ranks that can see it. */
static void tell(const char* what, int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  if (rank == 0) printf("%s: class %d\n", what, class);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  int n;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  int *one = calloc(COUNT, sizeof(int)), *all = calloc((size_t)COUNT * n, sizeof(int));
  int *counts = calloc(n, sizeof(int)), *places = calloc(n, sizeof(int));
  for (int i = 0; i < n; ++i) {
    counts[i] = COUNT;
    places[i] = i * COUNT;
  }
  for (int round = 0; round < 3; ++round) { /* right ones, so that there are plans */
    tell("gather", MPI_Gather(one, COUNT, MPI_INT, all, COUNT, MPI_INT, 0, comm));
    tell("scatter", MPI_Scatter(all, COUNT, MPI_INT, one, COUNT, MPI_INT, 0, comm));
    tell("gatherv", MPI_Gatherv(one, COUNT, MPI_INT, all, counts, places, MPI_INT, 0, comm));
    tell("scatterv", MPI_Scatterv(all, counts, places, MPI_INT, one, COUNT, MPI_INT, 0, comm));
  }
  tell("gather into nobody", MPI_Gather(one, COUNT, MPI_INT, all, COUNT, MPI_INT, n, comm));
  tell("scatter from nobody", MPI_Scatter(all, COUNT, MPI_INT, one, COUNT, MPI_INT, -3, comm));
  tell("gatherv into nobody", MPI_Gatherv(one, COUNT, MPI_INT, all, counts, places, MPI_INT, n, comm));
  tell("scatterv from nobody", MPI_Scatterv(all, counts, places, MPI_INT, one, COUNT, MPI_INT, n, comm));
  tell("gather: no type", MPI_Gather(one, COUNT, MPI_DATATYPE_NULL, all, COUNT, MPI_DATATYPE_NULL, 0, comm));
  tell("scatter: no type", MPI_Scatter(all, COUNT, MPI_DATATYPE_NULL, one, COUNT, MPI_DATATYPE_NULL, 0, comm));
  tell("gather: negative count", MPI_Gather(one, -1, MPI_INT, all, -1, MPI_INT, 0, comm));
  tell("scatter: negative count", MPI_Scatter(all, -1, MPI_INT, one, -1, MPI_INT, 0, comm));
  tell("gatherv: negative count", MPI_Gatherv(one, -1, MPI_INT, all, counts, places, MPI_INT, 0, comm));
  tell("no communicator", MPI_Gather(one, COUNT, MPI_INT, all, COUNT, MPI_INT, 0, MPI_COMM_NULL));
  for (int round = 0; round < 2; ++round) {
    tell("gather", MPI_Gather(one, COUNT, MPI_INT, all, COUNT, MPI_INT, 0, comm));
    tell("gatherv", MPI_Gatherv(one, COUNT, MPI_INT, all, counts, places, MPI_INT, 0, comm));
  }
  free(one);
  free(all);
  free(counts);
  free(places);
  MPI_Comm_free(&comm);
  return report();
}
