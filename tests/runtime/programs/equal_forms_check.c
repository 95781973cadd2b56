/* Every form of the calls whose sizes all ranks know, every byte checked. Knows nothing of Hocket.
 * Usage: equal_forms_check [threads] ; prints "ok <checks>" from rank 0, exits 1 on a wrong byte. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "persistent_exchange.h"

#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#else
#define LARGE_COUNTS 0
#endif

enum { COUNT = 5000, ROUNDS = 2 };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static int *in, *out;
static MPI_Request request;

static void fill_out(int salt) {
  memset(in, 0, sizeof(int) * COUNT * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < COUNT; ++i) out[j * COUNT + i] = value(rank, j, i, salt);
}

/* `to_all`: an all-to-all, else what goes to rank 0 goes to everybody. Blocks lie in the order of ranks, or back to
 * front. */
static void expect(int to_all, int reverse, int salt) {
  int wrong = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < COUNT; ++i)
      wrong += in[(reverse ? n - 1 - j : j) * COUNT + i] != value(j, to_all ? rank : 0, i, salt);
  check(!wrong);
}

/* The call in the form `form`, twice: `blocking`, `nonblocking` and `init` are calls. */
#define ROUNDS_OF(to_all, reverse, blocking, nonblocking, init)    \
  do {                                                             \
    if (form == PERSISTENT) init;                                  \
    for (int round = 0; round < ROUNDS; ++round) {                 \
      fill_out(round);                                             \
      if (form == BLOCKING) blocking;                              \
      if (form == NONBLOCKING) nonblocking;                        \
      if (form == PERSISTENT) MPI_Start(&request);                 \
      if (form != BLOCKING) MPI_Wait(&request, MPI_STATUS_IGNORE); \
      expect(to_all, reverse, round);                              \
    }                                                              \
    if (form == PERSISTENT) MPI_Request_free(&request);            \
  } while (0)

#define EVERY_CALL(suffix, counts, places)                                                                             \
  for (enum form form = BLOCKING; form < FORMS; ++form) {                                                              \
    ROUNDS_OF(                                                                                                         \
        1, 0, MPI_Alltoall##suffix(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD),                           \
        MPI_Ialltoall##suffix(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD, &request),                      \
        MPI_Alltoall_init##suffix(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request));  \
    ROUNDS_OF(                                                                                                         \
        0, 0, MPI_Allgather##suffix(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD),                          \
        MPI_Iallgather##suffix(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD, &request),                     \
        MPI_Allgather_init##suffix(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request)); \
    ROUNDS_OF(0, 1, MPI_Allgatherv##suffix(out, COUNT, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD),          \
              MPI_Iallgatherv##suffix(out, COUNT, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, &request),     \
              MPI_Allgatherv_init##suffix(out, COUNT, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD,            \
                                          MPI_INFO_NULL, &request));                                                   \
  }

/* So that nonblocking calls are scheduled from the first: blocking ones, a wish for each kind, a barrier. */
static void get_ready(void) {
  fill_out(0);
  MPI_Alltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD);
  MPI_Ialltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Iallgather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  know_ranks();
  in = malloc(sizeof(int) * COUNT * n);
  out = malloc(sizeof(int) * COUNT * n);
  int counts[n], places[n];
  for (int j = 0; j < n; ++j) {
    counts[j] = COUNT;
    places[j] = (n - 1 - j) * COUNT;
  }
  get_ready();
  EVERY_CALL(, counts, places)
#if LARGE_COUNTS
  MPI_Count large_counts[n];
  MPI_Aint large_places[n];
  for (int j = 0; j < n; ++j) {
    large_counts[j] = counts[j];
    large_places[j] = places[j];
  }
  EVERY_CALL(_c, large_counts, large_places)
#endif
  if (rank == 0) printf("large counts: %d\n", LARGE_COUNTS);
  free(in);
  free(out);
  return report();
}
