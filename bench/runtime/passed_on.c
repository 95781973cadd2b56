/* What a call costs that the MPI library serves: MPI_Alltoall with 8 bytes per rank.
 * Usage: passed_on BATCHES CALLS ; rank 0 prints the seconds of one call, the median over BATCHES of CALLS each.
 * With no arguments: MPI_Init and MPI_Finalize, nothing else. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int smaller(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double seconds_of_a_call(int calls, const int64_t* out, int64_t* in) {
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) MPI_Alltoall(out, 1, MPI_INT64_T, in, 1, MPI_INT64_T, MPI_COMM_WORLD);
  return (MPI_Wtime() - start) / calls;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc == 3) {
    const int batches = atoi(argv[1]), calls = atoi(argv[2]);
    int rank, n;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    int64_t *out = malloc(sizeof *out * (size_t)n), *in = malloc(sizeof *in * (size_t)n);
    double* seconds = malloc(sizeof *seconds * (size_t)batches);
    for (int i = 0; i < n; ++i) out[i] = 1000 * rank + i;
    seconds_of_a_call(calls, out, in); /* not counted: connections, caches */
    for (int b = 0; b < batches; ++b) seconds[b] = seconds_of_a_call(calls, out, in);
    for (int i = 0; i < n; ++i)
      if (in[i] != 1000 * i + rank) MPI_Abort(MPI_COMM_WORLD, 1);
    qsort(seconds, (size_t)batches, sizeof *seconds, smaller);
    if (rank == 0) printf("%.12f\n", seconds[batches / 2]);
    free(out);
    free(in);
    free(seconds);
  }
  MPI_Finalize();
  return 0;
}
