/* One call of each kind on a communicator, every element checked. Knows nothing of Hocket. */
#ifndef EXCHANGES_H
#define EXCHANGES_H
#include <mpi.h>
#include <stdlib.h>

#include "checks.h"

static inline int element(int from, int to, int i, int salt) { return from * 1000003 + to * 7919 + i * 31 + salt; }

/* `count` ints from each rank to each, and from each to all; the vector call sends up to twice as many. */
static inline void exchange_all(MPI_Comm comm, int count, int salt) {
  int rank, n;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  const size_t most = (size_t)count * 2 * n + 1;
  int *out = malloc(sizeof(int) * most), *in = malloc(sizeof(int) * most);
  int *counts = malloc(sizeof(int) * 4 * n), *places = counts + n, *in_counts = counts + 2 * n,
      *in_places = counts + 3 * n;

  for (int j = 0; j < n; ++j)
    for (int i = 0; i < count; ++i) out[(size_t)j * count + i] = element(rank, j, i, salt);
  check(MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm) == MPI_SUCCESS);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < count; ++i) check(in[(size_t)j * count + i] == element(j, rank, i, salt));

  for (int i = 0; i < count; ++i) out[i] = element(rank, 0, i, salt + 1);
  check(MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, comm) == MPI_SUCCESS);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < count; ++i) check(in[(size_t)j * count + i] == element(j, 0, i, salt + 1));

  for (int j = 0; j < n; ++j) {
    counts[j] = count + (rank + j) % 2 * count;
    in_counts[j] = counts[j]; /* the matrix is symmetric */
    places[j] = in_places[j] = j * 2 * count;
    for (int i = 0; i < counts[j]; ++i) out[places[j] + i] = element(rank, j, i, salt + 2);
  }
  check(MPI_Alltoallv(out, counts, places, MPI_INT, in, in_counts, in_places, MPI_INT, comm) == MPI_SUCCESS);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < in_counts[j]; ++i) check(in[in_places[j] + i] == element(j, rank, i, salt + 2));
  free(out);
  free(in);
  free(counts);
}

#endif
