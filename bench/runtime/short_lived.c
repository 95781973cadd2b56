/* Makes communicators of all ranks, makes an MPI_Alltoall and an MPI_Allreduce on each, and frees it.
 * Usage: short_lived COMMUNICATORS INTS made|kept ; kept: all calls on one. Prints "seconds S", of the slowest rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int total = atoi(argv[1]), count = atoi(argv[2]), kept = !strcmp(argv[3], "kept");
  int *from = calloc((size_t)count * ranks, sizeof *from), *to = calloc((size_t)count * ranks, sizeof *to);
  MPI_Comm comm;
  if (kept) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = -MPI_Wtime(), slowest = 0;
  for (int i = 0; i < total; ++i) {
    if (!kept) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Alltoall(from, count, MPI_INT, to, count, MPI_INT, comm);
    MPI_Allreduce(from, to, count * ranks, MPI_INT, MPI_SUM, comm);
    if (!kept) MPI_Comm_free(&comm);
  }
  seconds += MPI_Wtime();
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("seconds %.6f\n", slowest);
  if (kept) MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
