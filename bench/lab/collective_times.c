/* Times MPI_Alltoall or MPI_Allgather for several message sizes and checks every byte. An ordinary
 * MPI program.
 * Usage: collective_times alltoall|allgather SIZE:REPETITIONS... ; "SIZE SECONDS" per repetition
 * from rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rounds.h"

#define WARM_UP_BYTES 65536

int main(int argc, char** argv) {
  int rank, n, wrong = 0, any_wrong;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  int gather = argc > 1 && !strcmp(argv[1], "allgather");
  if (argc < 3 || (!gather && strcmp(argv[1], "alltoall"))) {
    if (rank == 0) fprintf(stderr, "usage: collective_times alltoall|allgather SIZE:REPETITIONS...\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int blocks = gather ? 1 : n; /* that a rank sends; an all-gather sends one block to everyone */
  for (int arg = 2; arg < argc; ++arg) {
    int size = atoi(argv[arg]), repetitions = 1;
    if (strchr(argv[arg], ':')) repetitions = atoi(strchr(argv[arg], ':') + 1);
    char *out = malloc((size_t)size * blocks), *in = malloc((size_t)size * n);
    for (int round = 0; round <= repetitions; ++round) { /* round 0 opens connections and is not reported */
      int bytes = round == 0 && size > WARM_UP_BYTES ? WARM_UP_BYTES : size;
      for (int p = 0; p < blocks; ++p)
        for (int i = 0; i < bytes; ++i) out[(size_t)p * bytes + i] = pattern(rank, p, i, round);
      memset(in, 1, (size_t)bytes * n);
      settle();
      double start = MPI_Wtime(), seconds, slowest;
      if (gather)
        MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
      else
        MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
      seconds = MPI_Wtime() - start;
      settle();
      for (int p = 0; p < n; ++p)
        for (int i = 0; i < bytes; ++i) wrong |= in[(size_t)p * bytes + i] != pattern(p, gather ? 0 : rank, i, round);
      MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      if (rank == 0 && round > 0) {
        printf("%d %.6f\n", size, slowest);
        fflush(stdout);
      }
    }
    free(out);
    free(in);
  }
  MPI_Allreduce(&wrong, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && any_wrong) fprintf(stderr, "WRONG DATA\n");
  MPI_Finalize();
  return any_wrong;
}
