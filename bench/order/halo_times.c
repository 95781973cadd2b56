/* Times the exchange of halos in a periodic grid of ROWS x COLUMNS ranks and checks every byte.
 * Usage: halo_times ROWS COLUMNS SIZE:REPETITIONS... ; "SIZE SECONDS" per repetition from rank 0. SIZE: bytes to each of
 * four neighbours. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lab/rounds.h"

enum { NEIGHBOURS = 4 };

int main(int argc, char** argv) {
  int rank, n, wrong = 0, any_wrong;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const int rows = argc > 3 ? atoi(argv[1]) : 0, columns = argc > 3 ? atoi(argv[2]) : 0;
  if (rows < 1 || columns < 1 || rows * columns != n) {
    if (rank == 0) fprintf(stderr, "usage: halo_times ROWS COLUMNS SIZE:REPETITIONS..., for ROWS x COLUMNS ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int row = rank / columns, column = rank % columns;
  const int to[NEIGHBOURS] = {(row + 1) % rows * columns + column, (row + rows - 1) % rows * columns + column,
                              row * columns + (column + 1) % columns, row * columns + (column + columns - 1) % columns};
  for (int arg = 3; arg < argc; ++arg) {
    int size = 0, repetitions = 1;
    sscanf(argv[arg], "%d:%d", &size, &repetitions);
    char *out = malloc((size_t)size * NEIGHBOURS), *in = malloc((size_t)size * NEIGHBOURS);
    for (int round = 0; round <= repetitions; ++round) { /* round 0 opens connections and is not reported */
      MPI_Request requests[2 * NEIGHBOURS];
      double start, seconds, slowest;
      for (int side = 0; side < NEIGHBOURS; ++side)
        for (int i = 0; i < size; ++i) out[side * size + i] = pattern(rank, side, i, round);
      memset(in, 1, (size_t)size * NEIGHBOURS);
      settle();
      start = MPI_Wtime();
      for (int side = 0; side < NEIGHBOURS; ++side) /* what comes from one side was sent to the other */
        MPI_Irecv(in + (size_t)side * size, size, MPI_BYTE, to[side], side ^ 1, MPI_COMM_WORLD, requests + side);
      for (int side = 0; side < NEIGHBOURS; ++side)
        MPI_Isend(out + (size_t)side * size, size, MPI_BYTE, to[side], side, MPI_COMM_WORLD,
                  requests + NEIGHBOURS + side);
      MPI_Waitall(2 * NEIGHBOURS, requests, MPI_STATUSES_IGNORE);
      seconds = MPI_Wtime() - start;
      settle();
      for (int side = 0; side < NEIGHBOURS; ++side)
        for (int i = 0; i < size; ++i) wrong |= in[side * size + i] != pattern(to[side], side ^ 1, i, round);
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
