/* MPI_Bcast from the last rank and MPI_Reduce to it, of each size, and checks every byte. Knows nothing of Hocket.
 * Usage: rooted_sizes BYTES... (multiples of 4) ; prints "ok <checks>" from rank 0, exits 1 on a wrong byte. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

static int value(int rank, int i) { return rank * 7919 + i * 31 + 1; }

static void both(int rank, int n, int count) {
  const int root = n - 1;
  int *one = calloc((size_t)count, sizeof(int)), *sum = calloc((size_t)count, sizeof(int)), wrong = 0;
  for (int i = 0; rank == root && i < count; ++i) one[i] = value(root, i);
  check(MPI_Bcast(one, count, MPI_INT, root, MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) wrong += one[i] != value(root, i);
  for (int i = 0; i < count; ++i) one[i] = value(rank, i);
  check(MPI_Reduce(one, sum, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int i = 0; rank == root && i < count; ++i) wrong += sum[i] != n * (n - 1) / 2 * 7919 + n * (i * 31 + 1);
  check(!wrong);
  free(one);
  free(sum);
}

int main(int argc, char** argv) {
  int rank, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int i = 1; i < argc; ++i) both(rank, n, atoi(argv[i]) / 4);
  return report();
}
