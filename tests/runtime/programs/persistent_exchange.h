/* A persistent all-to-all whose every byte is known. */
#ifndef PERSISTENT_EXCHANGE_H
#define PERSISTENT_EXCHANGE_H
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

static int rank, n; /* of MPI_COMM_WORLD */

static inline void know_ranks(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
}

static inline int value(int from, int to, int i, int salt) { return from * 1000003 + to * 7919 + i * 31 + salt; }

/* An all-to-all of `count` ints per pair of ranks and its buffers. */
struct exchange {
  int count, rank, n;
  int *out, *in;
  MPI_Request request;
};

static inline void fill(struct exchange* x, int salt) {
  for (int j = 0; j < x->n; ++j)
    for (int i = 0; i < x->count; ++i) x->out[(size_t)j * x->count + i] = value(x->rank, j, i, salt);
  memset(x->in, 0, sizeof(int) * (size_t)x->count * x->n);
}

static inline int right(const struct exchange* x, int salt) {
  for (int j = 0; j < x->n; ++j)
    for (int i = 0; i < x->count; ++i)
      if (x->in[(size_t)j * x->count + i] != value(j, x->rank, i, salt)) return 0;
  return 1;
}

static inline struct exchange make(MPI_Comm comm, int count) {
  struct exchange x = {.count = count};
  MPI_Comm_rank(comm, &x.rank);
  MPI_Comm_size(comm, &x.n);
  x.out = malloc(sizeof(int) * (size_t)count * x.n + 1);
  x.in = malloc(sizeof(int) * (size_t)count * x.n + 1);
  MPI_Alltoall_init(x.out, count, MPI_INT, x.in, count, MPI_INT, comm, MPI_INFO_NULL, &x.request);
  check(x.request != MPI_REQUEST_NULL);
  return x;
}

static inline void release(struct exchange* x) {
  MPI_Request_free(&x->request);
  check(x->request == MPI_REQUEST_NULL);
  free(x->out);
  free(x->in);
}

#endif
