/* Calls whose account is known: `report_calls PART...`. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"

enum { LARGE = 4096, SMALL = 8, MOST = 16 };

static unsigned char out[MOST * LARGE], in[MOST * LARGE];

static void exchange(MPI_Comm comm, int bytes) {
  check(MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm) == MPI_SUCCESS);
}

/* Three large ones from one place, five small ones from another, one of each from a third. */
static void calls(void) {
  for (int i = 0; i < 3; ++i) exchange(MPI_COMM_WORLD, LARGE);
  for (int i = 0; i < 5; ++i) MPI_Alltoall(out, SMALL, MPI_BYTE, in, SMALL, MPI_BYTE, MPI_COMM_WORLD); /* five */
  const int sizes[] = {SMALL, LARGE};
  for (int i = 0; i < 2; ++i)
    MPI_Alltoall(out, sizes[i], MPI_BYTE, in, sizes[i], MPI_BYTE, MPI_COMM_WORLD); /* one of each */
}

static void pairs(void) {
  int rank;
  MPI_Comm pair;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
  exchange(pair, LARGE);
  MPI_Comm_free(&pair);
}

/* Begun and ended seven times. */
static void persistent(void) {
#if MPI_VERSION >= 4 || defined(OPEN_MPI)
  MPI_Request request;
  MPI_Alltoall_init(out, LARGE, MPI_BYTE, in, LARGE, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 7; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
#endif
}

/* Rank r sends (1 + (r + i) mod 3) KiB to rank i. */
static void sizes(int* counts, int* at) {
  int rank, n;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int i = 0; i < n; ++i) counts[i] = 1024 * (1 + (rank + i) % 3), at[i] = i * LARGE;
}

static void vectors(void) {
  int counts[MOST], at[MOST];
  sizes(counts, at);
  for (int i = 0; i < 5; ++i) MPI_Alltoallv(out, counts, at, MPI_BYTE, in, counts, at, MPI_BYTE, MPI_COMM_WORLD);
}

static void nonblocking(void) {
  int counts[MOST], at[MOST];
  MPI_Request request;
  sizes(counts, at);
  for (int i = 0; i < 2; ++i) {
    MPI_Ialltoallv(out, counts, at, MPI_BYTE, in, counts, at, MPI_BYTE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void gathers(void) {
  int rank, n, counts[MOST], at[MOST];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int i = 0; i < n; ++i) counts[i] = LARGE / (i + 1), at[i] = i * LARGE;
  for (int i = 0; i < 4; ++i) MPI_Allgather(out, LARGE, MPI_BYTE, in, LARGE, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Allgatherv(out, counts[rank], MPI_BYTE, in, counts, at, MPI_BYTE, MPI_COMM_WORLD);
}

/* Of a vector of LARGE bytes for each of four ranks; rank 1 is the root. */
static void sums(void) {
  enum { RANKS = 4, COUNT = RANKS * LARGE / (int)sizeof(int) };
  static int from[COUNT], to[COUNT];
  int counts[RANKS];
  for (int i = 0; i < RANKS; ++i) counts[i] = COUNT / RANKS;
  for (int i = 0; i < 3; ++i) MPI_Allreduce(from, to, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) MPI_Reduce(from, to, COUNT, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) MPI_Bcast(to, COUNT, MPI_INT, 1, MPI_COMM_WORLD);
  MPI_Bcast(to, 2, MPI_INT, 1, MPI_COMM_WORLD); /* a small one */
}

static void in_background(void) {
  MPI_Request request;
  MPI_Ialltoall(out, LARGE, MPI_BYTE, in, LARGE, MPI_BYTE, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The first is too early; the barrier makes the communicator ready for the others. */
static void ready(void) {
  exchange(MPI_COMM_WORLD, LARGE);
  in_background();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) in_background();
}

static void* in_thread(void* comm) {
  static _Thread_local unsigned char own_out[MOST * SMALL], own_in[MOST * SMALL];
  for (int i = 0; i < 100; ++i)
    MPI_Alltoall(own_out, SMALL, MPI_BYTE, own_in, SMALL, MPI_BYTE, *(MPI_Comm*)comm); /* in a thread */
  return NULL;
}

static void threads(void) {
  enum { THREADS = 4 };
  MPI_Comm comms[THREADS];
  pthread_t ids[THREADS];
  for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, comms + i);
  for (int i = 0; i < THREADS; ++i) pthread_create(ids + i, NULL, in_thread, comms + i);
  for (int i = 0; i < THREADS; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < THREADS; ++i) MPI_Comm_free(comms + i);
}

/* The second call is on disk when the rank dies: it ends more than the first interval after the first. */
static void killed(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  exchange(MPI_COMM_WORLD, LARGE);
  sleep(3);
  exchange(MPI_COMM_WORLD, LARGE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 makes no call. */
static void without_one(void) {
  int rank;
  MPI_Comm some;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, rank, &some);
  if (some == MPI_COMM_NULL) return;
  exchange(some, SMALL);
  MPI_Comm_free(&some);
}

static const struct {
  const char* name;
  void (*run)(void);
} parts[] = {{"calls", calls},
             {"pairs", pairs},
             {"persistent", persistent},
             {"vectors", vectors},
             {"sums", sums},
             {"threads", threads},
             {"killed", killed},
             {"without_one", without_one},
             {"nonblocking", nonblocking},
             {"gathers", gathers},
             {"ready", ready}};

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
    for (int a = 1; a < argc; ++a)
      if (strcmp(argv[a], parts[i].name) == 0) parts[i].run();
  if (argc > 2 && strcmp(argv[argc - 1], "exit") == 0) exit(3);
  return report();
}
