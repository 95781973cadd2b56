/* Every form of MPI_Gather, MPI_Gatherv, MPI_Scatter and MPI_Scatterv, every element checked. Persistent ones are
 * started in another order than they were made. Knows nothing of Hocket.
 * Usage: root_forms_check ; prints "ok <checks>" from rank 0, exits 1 on a wrong element. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#else
#define LARGE_COUNTS 0
#endif

enum { COUNT = 5003, ROUNDS = 3, CALLS = 4 };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
enum { GATHER, SCATTER, GATHERV, SCATTERV };

#define WORLD MPI_COMM_WORLD
static const int roots[CALLS] = {1, 2, 0, 3};
static int rank, n, *one[CALLS], *all[CALLS];

static int value(int rank, int i, int salt) { return rank * 1000003 + i * 31 + salt * 7919; }

/* Elements of a rank's message, where the message of each begins, and where the last one ends. */
static int length(int call, int of) { return call < GATHERV ? COUNT : of == 1 ? 0 : COUNT - 17 * of; }
static int place(int call, int of) {
  int before = 0;
  for (int i = 0; i < of; ++i) before += length(call, i);
  return before;
}

static void fill(int call, int salt) {
  const int gathers = call == GATHER || call == GATHERV;
  memset(one[call], 0, sizeof(int) * COUNT);
  memset(all[call], 0, sizeof(int) * COUNT * n);
  if (gathers)
    for (int i = 0; i < length(call, rank); ++i) one[call][i] = value(rank, i, salt);
  else if (rank == roots[call])
    for (int p = 0; p < n; ++p)
      for (int i = 0; i < length(call, p); ++i) all[call][place(call, p) + i] = value(p, i, salt);
}

static void expect(int call, int salt) {
  int wrong = 0;
  for (int i = 0; i < COUNT; ++i) wrong += one[call][i] != (i < length(call, rank) ? value(rank, i, salt) : 0);
  for (int p = 0; rank == roots[call] && p < n; ++p)
    for (int i = 0; i < length(call, p); ++i) wrong += all[call][place(call, p) + i] != value(p, i, salt);
  check(!wrong);
}

#define EVERY_CALL(suffix, Count, Place)                                                                              \
  do {                                                                                                                \
    Count counts[2][n];                                                                                               \
    Place places[2][n];                                                                                               \
    for (int p = 0; p < n; ++p)                                                                                       \
      for (int v = 0; v < 2; ++v) {                                                                                   \
        counts[v][p] = length(GATHERV + v, p);                                                                        \
        places[v][p] = place(GATHERV + v, p);                                                                         \
      }                                                                                                               \
    const Count own = (Count)length(GATHERV, rank);                                                                   \
    for (enum form form = BLOCKING; form < FORMS; ++form) {                                                           \
      MPI_Request r[CALLS];                                                                                           \
      if (form == PERSISTENT) {                                                                                       \
        MPI_Gather_init##suffix(one[0], COUNT, MPI_INT, all[0], COUNT, MPI_INT, roots[0], WORLD, MPI_INFO_NULL,       \
                                &r[0]);                                                                               \
        MPI_Scatter_init##suffix(all[1], COUNT, MPI_INT, one[1], COUNT, MPI_INT, roots[1], WORLD, MPI_INFO_NULL,      \
                                 &r[1]);                                                                              \
        MPI_Gatherv_init##suffix(one[2], own, MPI_INT, all[2], counts[0], places[0], MPI_INT, roots[2], WORLD,        \
                                 MPI_INFO_NULL, &r[2]);                                                               \
        MPI_Scatterv_init##suffix(all[3], counts[1], places[1], MPI_INT, one[3], own, MPI_INT, roots[3], WORLD,       \
                                  MPI_INFO_NULL, &r[3]);                                                              \
      }                                                                                                               \
      for (int round = 0; round < ROUNDS; ++round) {                                                                  \
        for (int call = 0; call < CALLS; ++call) fill(call, round);                                                   \
        if (form == BLOCKING) {                                                                                       \
          MPI_Gather##suffix(one[0], COUNT, MPI_INT, all[0], COUNT, MPI_INT, roots[0], WORLD);                        \
          MPI_Scatter##suffix(all[1], COUNT, MPI_INT, one[1], COUNT, MPI_INT, roots[1], WORLD);                       \
          MPI_Gatherv##suffix(one[2], own, MPI_INT, all[2], counts[0], places[0], MPI_INT, roots[2], WORLD);          \
          MPI_Scatterv##suffix(all[3], counts[1], places[1], MPI_INT, one[3], own, MPI_INT, roots[3], WORLD);         \
        } else if (form == NONBLOCKING) {                                                                             \
          MPI_Igather##suffix(one[0], COUNT, MPI_INT, all[0], COUNT, MPI_INT, roots[0], WORLD, &r[0]);                \
          MPI_Iscatter##suffix(all[1], COUNT, MPI_INT, one[1], COUNT, MPI_INT, roots[1], WORLD, &r[1]);               \
          MPI_Igatherv##suffix(one[2], own, MPI_INT, all[2], counts[0], places[0], MPI_INT, roots[2], WORLD, &r[2]);  \
          MPI_Iscatterv##suffix(all[3], counts[1], places[1], MPI_INT, one[3], own, MPI_INT, roots[3], WORLD, &r[3]); \
        } else {                                                                                                      \
          for (int call = 0; call < CALLS; ++call) MPI_Start(&r[(call * 3 + round) % CALLS]);                         \
        }                                                                                                             \
        if (form != BLOCKING) MPI_Waitall(CALLS, r, MPI_STATUSES_IGNORE);                                             \
        for (int call = 0; call < CALLS; ++call) expect(call, round);                                                 \
      }                                                                                                               \
      for (int call = 0; form == PERSISTENT && call < CALLS; ++call) MPI_Request_free(&r[call]);                      \
    }                                                                                                                 \
  } while (0)

/* So that nonblocking calls are scheduled from the first: a wish for each kind, and a call in which all meet. */
static void get_ready(void) {
  MPI_Request r;
  for (int round = 0; round < 2; ++round) {
    MPI_Igather(one[0], COUNT, MPI_INT, all[0], COUNT, MPI_INT, roots[0], WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Iscatter(all[1], COUNT, MPI_INT, one[1], COUNT, MPI_INT, roots[1], WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &n);
  for (int call = 0; call < CALLS; ++call) {
    one[call] = calloc(COUNT, sizeof(int));
    all[call] = calloc((size_t)COUNT * (size_t)n, sizeof(int));
  }
  get_ready();
  EVERY_CALL(, int, int);
#if LARGE_COUNTS
  EVERY_CALL(_c, MPI_Count, MPI_Aint);
#endif
  if (rank == 0) printf("large counts: %d\n", LARGE_COUNTS);
  return report();
}
