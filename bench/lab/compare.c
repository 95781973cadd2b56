/* Scheduled against native, alternating in one job: with the preload library MPI_Alltoall is the
 * scheduled call, and PMPI_Alltoall is always the MPI library's own.
 * Usage: compare REPETITIONS BYTES... ; one line of JSON per repetition from rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A barrier that sleeps: the ranks outnumber the cores. */
static void settle(void) {
  MPI_Request request;
  int done = 0;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  while (!done) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) usleep(300);
  }
}

int main(int argc, char **argv) {
  int rank, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (argc < 3) {
    if (rank == 0) fprintf(stderr, "usage: compare REPETITIONS BYTES...\n");
    MPI_Finalize();
    return 2;
  }
  int repetitions = atoi(argv[1]), wrong = 0;
  for (int arg = 2; arg < argc; ++arg) {
    int bytes = atoi(argv[arg]);
    char *out = malloc((size_t)bytes * n), *in = malloc((size_t)bytes * n);
    for (int round = 0; round <= repetitions; ++round) { /* round 0 warms up: connections, plans */
      double seconds[2] = {0, 0}, slowest[2];
      for (int turn = 0; turn < 2; ++turn) {
        int native = (turn + round) % 2;
        for (int p = 0; p < n; ++p)
          for (int i = 0; i < bytes; ++i) out[(size_t)p * bytes + i] = (char)(rank * 7 + p * 13 + i * 3 + i / 251 + round);
        memset(in, 1, (size_t)bytes * n);
        settle();
        double start = MPI_Wtime();
        if (native)
          PMPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
        else
          MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
        seconds[native] = MPI_Wtime() - start;
        settle();
        for (int p = 0; p < n; ++p)
          for (int i = 0; i < bytes; ++i)
            wrong |= in[(size_t)p * bytes + i] != (char)(p * 7 + rank * 13 + i * 3 + i / 251 + round);
      }
      MPI_Reduce(seconds, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      if (rank == 0 && round > 0) {
        printf("{\"bytes\": %d, \"round\": %d, \"scheduled\": %.6f, \"native\": %.6f}\n", bytes, round, slowest[0], slowest[1]);
        fflush(stdout);
      }
    }
    free(out);
    free(in);
  }
  int any_wrong;
  MPI_Allreduce(&wrong, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && any_wrong) fprintf(stderr, "WRONG DATA\n");
  MPI_Finalize();
  return any_wrong;
}
