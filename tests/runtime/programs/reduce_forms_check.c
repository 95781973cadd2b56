/* Every form of broadcasts and reductions, every element checked. Knows nothing of Hocket.
 * Usage: reduce_forms_check [threads] ; prints "ok <checks>" from rank 0, exits 1 on a wrong element. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#else
#define LARGE_COUNTS 0
#endif

enum { COUNT = 5003, ROUNDS = 2 };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static int rank, n, *in, *out;
static MPI_Request request;

static int value(int from, int i, int salt) { return from * 1000003 + i * 31 + salt * 7919; }

static void fill_out(int salt) {
  memset(in, 0, sizeof(int) * COUNT * n);
  for (int i = 0; i < COUNT * n; ++i) out[i] = value(rank, i, salt);
}

/* `count` sums from element `first` on. */
static void expect_sums(int first, int count, int salt) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    unsigned sum = 0;
    for (int from = 0; from < n; ++from) sum += (unsigned)value(from, first + i, salt);
    wrong += in[i] != (int)sum;
  }
  check(!wrong);
}

static void expect_of_root(int root, int salt) {
  int wrong = 0;
  for (int i = 0; i < COUNT; ++i) wrong += out[i] != value(root, i, salt);
  check(!wrong);
}

/* The call in the form `form`, twice: `blocking`, `nonblocking` and `init` are calls. */
#define ROUNDS_OF(expected, blocking, nonblocking, init)           \
  do {                                                             \
    if (form == PERSISTENT) init;                                  \
    for (int round = 0; round < ROUNDS; ++round) {                 \
      fill_out(round);                                             \
      if (form == BLOCKING) blocking;                              \
      if (form == NONBLOCKING) nonblocking;                        \
      if (form == PERSISTENT) MPI_Start(&request);                 \
      if (form != BLOCKING) MPI_Wait(&request, MPI_STATUS_IGNORE); \
      expected;                                                    \
    }                                                              \
    if (form == PERSISTENT) MPI_Request_free(&request);            \
  } while (0)

#define WORLD MPI_COMM_WORLD
#define EVERY_CALL(suffix, counts)                                                                                 \
  for (enum form form = BLOCKING; form < FORMS; ++form) {                                                          \
    ROUNDS_OF(expect_sums(0, COUNT, round), MPI_Allreduce##suffix(out, in, COUNT, MPI_INT, MPI_SUM, WORLD),        \
              MPI_Iallreduce##suffix(out, in, COUNT, MPI_INT, MPI_SUM, WORLD, &request),                           \
              MPI_Allreduce_init##suffix(out, in, COUNT, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request));       \
    ROUNDS_OF(                                                                                                     \
        expect_sums(COUNT * rank, COUNT, round),                                                                   \
        MPI_Reduce_scatter_block##suffix(out, in, COUNT, MPI_INT, MPI_SUM, WORLD),                                 \
        MPI_Ireduce_scatter_block##suffix(out, in, COUNT, MPI_INT, MPI_SUM, WORLD, &request),                      \
        MPI_Reduce_scatter_block_init##suffix(out, in, COUNT, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request));  \
    ROUNDS_OF(expect_sums(before, (int)counts[rank], round),                                                       \
              MPI_Reduce_scatter##suffix(out, in, counts, MPI_INT, MPI_SUM, WORLD),                                \
              MPI_Ireduce_scatter##suffix(out, in, counts, MPI_INT, MPI_SUM, WORLD, &request),                     \
              MPI_Reduce_scatter_init##suffix(out, in, counts, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request)); \
    ROUNDS_OF(if (rank == 1) expect_sums(0, COUNT, round),                                                         \
              MPI_Reduce##suffix(out, in, COUNT, MPI_INT, MPI_SUM, 1, WORLD),                                      \
              MPI_Ireduce##suffix(out, in, COUNT, MPI_INT, MPI_SUM, 1, WORLD, &request),                           \
              MPI_Reduce_init##suffix(out, in, COUNT, MPI_INT, MPI_SUM, 1, WORLD, MPI_INFO_NULL, &request));       \
    ROUNDS_OF(expect_of_root(2, round), MPI_Bcast##suffix(out, COUNT, MPI_INT, 2, WORLD),                          \
              MPI_Ibcast##suffix(out, COUNT, MPI_INT, 2, WORLD, &request),                                         \
              MPI_Bcast_init##suffix(out, COUNT, MPI_INT, 2, WORLD, MPI_INFO_NULL, &request));                     \
  }

/* So that nonblocking calls are scheduled from the first: a wish for each kind, and a call in which all meet. */
static void get_ready(void) {
  fill_out(0);
  for (int round = 0; round < 2; ++round) {
    MPI_Iallreduce(out, in, COUNT, MPI_INT, MPI_SUM, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ireduce_scatter_block(out, in, COUNT, MPI_INT, MPI_SUM, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ireduce(out, in, COUNT, MPI_INT, MPI_SUM, 1, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ibcast(out, COUNT, MPI_INT, 2, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(WORLD);
  }
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &n);
  in = malloc(sizeof(int) * COUNT * n);
  out = malloc(sizeof(int) * COUNT * n);
  int counts[n], before = 0;
  for (int j = 0; j < n; ++j) {
    counts[j] = j == 0 ? 2 * COUNT : j == 1 ? 0 : COUNT - j;
    if (j < rank) before += counts[j];
  }
  get_ready();
  EVERY_CALL(, counts)
#if LARGE_COUNTS
  MPI_Count large_counts[n];
  for (int j = 0; j < n; ++j) large_counts[j] = counts[j];
  EVERY_CALL(_c, large_counts)
#endif
  if (rank == 0) printf("large counts: %d\n", LARGE_COUNTS);
  free(in);
  free(out);
  return report();
}
