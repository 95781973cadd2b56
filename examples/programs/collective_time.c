/* An ordinary MPI program: calls MPI_Alltoall or MPI_Allgather, checks what came and says how long it took.
 * Usage: collective_time alltoall|allgather [BYTES per message] [REPETITIONS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char pattern(int from, int to, long i, int round) {
  return (unsigned char)(from * 7 + to * 13 + i * 3 + i / 251 + round);
}

static int compare(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  int rank, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  int gather = argc > 1 && strcmp(argv[1], "allgather") == 0;
  if (!gather && (argc < 2 || strcmp(argv[1], "alltoall") != 0)) {
    if (rank == 0) fprintf(stderr, "usage: collective_time alltoall|allgather [BYTES] [REPETITIONS]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  long bytes = argc > 2 ? atol(argv[2]) : 65536, wrong = 0, all_wrong;
  int repetitions = argc > 3 ? atoi(argv[3]) : 5;
  int messages = gather ? 1 : n; /* that a rank sends: one to everyone, or one to each */
  unsigned char *out = malloc((size_t)(bytes * messages)), *in = malloc((size_t)(bytes * n));
  double* seconds = malloc(sizeof(double) * (size_t)(repetitions + 1));
  for (int round = 0; round <= repetitions; ++round) { /* the first one opens connections and is not counted */
    for (int p = 0; p < messages; ++p)
      for (long i = 0; i < bytes; ++i) out[p * bytes + i] = pattern(rank, p, i, round);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), elapsed;
    if (gather)
      MPI_Allgather(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    else
      MPI_Alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    elapsed = MPI_Wtime() - start;
    MPI_Allreduce(&elapsed, &seconds[round], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int p = 0; p < n; ++p)
      for (long i = 0; i < bytes; ++i) wrong += in[p * bytes + i] != pattern(p, gather ? 0 : rank, i, round);
  }
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    qsort(seconds + 1, (size_t)repetitions, sizeof(double), compare);
    printf("%s of %ld bytes on %d ranks: median %.3f s, %s\n", gather ? "all-gather" : "all-to-all", bytes, n,
           seconds[1 + repetitions / 2], all_wrong ? "WRONG DATA" : "data correct");
  }
  MPI_Bcast(&all_wrong, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  free(out);
  free(in);
  free(seconds);
  MPI_Finalize();
  return all_wrong != 0;
}
