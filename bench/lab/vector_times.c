/* Times MPI_Alltoallv of given traffic matrices and checks every byte. An ordinary MPI program.
 * Usage: vector_times FILE:REPETITIONS...
 * A file holds n x n numbers of bytes, row = sender, with blanks between them. Prints "FILE SECONDS"
 * per repetition from rank 0: first the call that sees the counts for the first time, as round 0. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rounds.h"

static void fail(const char* what, const char* file) {
  fprintf(stderr, "vector_times: %s: %s\n", file, what);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Row and column of this rank. */
static void read_counts(const char* file, int n, int rank, int* sends, int* receives) {
  FILE* in = fopen(file, "r");
  if (!in) fail("cannot read", file);
  for (int from = 0; from < n; ++from)
    for (int to = 0; to < n; ++to) {
      long bytes;
      if (fscanf(in, "%ld", &bytes) != 1 || bytes < 0 || bytes > INT_MAX / n) fail("not n x n counts", file);
      if (from == rank) sends[to] = (int)bytes;
      if (to == rank) receives[from] = (int)bytes;
    }
  fclose(in);
}

/* The displacements, and the sum. */
static long lay_out(const int* counts, int* displacements, int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) {
    displacements[i] = (int)sum;
    sum += counts[i];
  }
  return sum;
}

/* A byte to everybody, pair by pair: a small MPI_Alltoall may use few connections only. */
static void open_connections(int rank, int n) {
  char out = 0, in;
  for (int k = 1; k < n; ++k)
    MPI_Sendrecv(&out, 1, MPI_CHAR, (rank + k) % n, 0, &in, 1, MPI_CHAR, (rank - k + n) % n, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank, n, wrong = 0, any_wrong;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  open_connections(rank, n);
  int* counts = malloc(4 * (size_t)n * sizeof(int));
  int *sends = counts, *receives = counts + n, *send_at = counts + 2 * n, *receive_at = counts + 3 * n;
  for (int arg = 1; arg < argc; ++arg) {
    int repetitions = 1;
    char* colon = strrchr(argv[arg], ':');
    if (colon) {
      repetitions = atoi(colon + 1);
      *colon = 0;
    }
    read_counts(argv[arg], n, rank, sends, receives);
    char* out = malloc((size_t)lay_out(sends, send_at, n) + 1);
    char* in = malloc((size_t)lay_out(receives, receive_at, n) + 1);
    for (int round = 0; round < repetitions; ++round) {
      for (int p = 0; p < n; ++p) {
        for (int i = 0; i < sends[p]; ++i) out[send_at[p] + i] = pattern(rank, p, i, round);
        memset(in + receive_at[p], 1, (size_t)receives[p]);
      }
      settle();
      double start = MPI_Wtime(), seconds, slowest;
      MPI_Alltoallv(out, sends, send_at, MPI_BYTE, in, receives, receive_at, MPI_BYTE, MPI_COMM_WORLD);
      seconds = MPI_Wtime() - start;
      settle();
      for (int p = 0; p < n; ++p)
        for (int i = 0; i < receives[p]; ++i) wrong |= in[receive_at[p] + i] != pattern(p, rank, i, round);
      MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      if (rank == 0) {
        printf("%s %.6f\n", argv[arg], slowest);
        fflush(stdout);
      }
    }
    free(out);
    free(in);
  }
  free(counts);
  MPI_Allreduce(&wrong, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && any_wrong) fprintf(stderr, "WRONG DATA\n");
  MPI_Finalize();
  return any_wrong;
}
