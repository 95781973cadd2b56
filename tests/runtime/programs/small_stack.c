/* Calls from a thread with a small stack, as user-level threads have, and how deep each goes: the stack below it is
 * painted before. Usage: small_stack KIB; prints lines "CALL BYTES", the deepest of all ranks, and "ok <checks>" from
 * rank 0. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "checks.h"

enum { ROUNDS = 3, PAINT = 0xa5, MOST = 40000 };

static int rank, ranks;
static unsigned char* stack; /* painted below the calling frame */

/* Below all that the frame which calls it uses. */
static __attribute__((noinline)) unsigned char* here(void) { return (unsigned char*)__builtin_frame_address(0) - 512; }

static __attribute__((noinline)) long depth(void) {
  unsigned char* deepest = stack;
  while (*deepest == PAINT) ++deepest;
  return here() - deepest;
}

#define CALL(name, call)                                                  \
  do {                                                                    \
    unsigned char* const end = here();                                    \
    for (volatile unsigned char* at = stack; at < end; ++at) *at = PAINT; \
    call;                                                                 \
    const long used = depth();                                            \
    if (used > deepest[name]) deepest[name] = used;                       \
  } while (0)

#define CALLS(X)                                                                                                   \
  X(Alltoall)                                                                                                      \
  X(Alltoallv) X(Alltoallw) X(Ialltoall) X(Wait) X(Allgather) X(Allgatherv) X(Allreduce) X(Sum) X(Bcast) X(Reduce) \
      X(Gather) X(Gatherv) X(Scatter) X(Reduce_scatter) X(Neighbor_alltoall) X(Alltoall_init) X(Start) X(Comm_dup) \
          X(Comm_free) X(Barrier)
#define NAME(name) name,
enum { CALLS(NAME) ALL };
#undef NAME
#define NAME(name) #name,
static const char* const names[] = {CALLS(NAME)};
static long deepest[ALL];

static void calls(MPI_Comm comm, int n) {
  int counts[64], places[64], bytes[64];
  MPI_Datatype types[64];
  for (int i = 0; i < ranks; ++i) counts[i] = n, places[i] = i * n, bytes[i] = 4 * i * n, types[i] = MPI_INT;
  int *from = calloc((size_t)n * ranks, 4), *to = calloc((size_t)n * ranks, 4);
  double *addends = calloc((size_t)n * ranks, 8), *sums = calloc((size_t)n * ranks, 8);
  for (int i = 0; i < n * ranks; ++i) from[i] = 1000 * rank + i / n, addends[i] = rank + 0.5;
  MPI_Request request;
  CALL(Alltoall, MPI_Alltoall(from, n, MPI_INT, to, n, MPI_INT, comm));
  for (int i = 0; i < n * ranks; ++i) check(to[i] == 1000 * (i / n) + rank);
  CALL(Alltoallv, MPI_Alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, comm));
  CALL(Alltoallw, MPI_Alltoallw(from, counts, bytes, types, to, counts, bytes, types, comm));
  CALL(Ialltoall, MPI_Ialltoall(from, n, MPI_INT, to, n, MPI_INT, comm, &request));
  CALL(Wait, MPI_Wait(&request, MPI_STATUS_IGNORE));
  CALL(Allgather, MPI_Allgather(from, n, MPI_INT, to, n, MPI_INT, comm));
  CALL(Allgatherv, MPI_Allgatherv(from, n, MPI_INT, to, counts, places, MPI_INT, comm));
  for (int i = 0; i < n * ranks; ++i) check(to[i] == 1000 * (i / n));
  CALL(Allreduce, MPI_Allreduce(from, to, n * ranks, MPI_INT, MPI_MAX, comm));
  CALL(Sum, MPI_Allreduce(addends, sums, n * ranks, MPI_DOUBLE, MPI_SUM, comm));
  for (int i = 0; i < n * ranks; ++i) check(to[i] == 1000 * (ranks - 1) + i / n && sums[i] == ranks * ranks / 2.);
  CALL(Bcast, MPI_Bcast(to, n * ranks, MPI_INT, 1, comm));
  CALL(Reduce, MPI_Reduce(from, to, n * ranks, MPI_INT, MPI_MAX, 1, comm));
  CALL(Gather, MPI_Gather(from, n, MPI_INT, to, n, MPI_INT, 1, comm));
  CALL(Gatherv, MPI_Gatherv(from, n, MPI_INT, to, counts, places, MPI_INT, 1, comm));
  CALL(Scatter, MPI_Scatter(from, n, MPI_INT, to, n, MPI_INT, 1, comm));
  CALL(Reduce_scatter, MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_MAX, comm));
  check(to[0] == 1000 * (ranks - 1) + rank);
  CALL(Alltoall_init, MPI_Alltoall_init(from, n, MPI_INT, to, n, MPI_INT, comm, MPI_INFO_NULL, &request));
  CALL(Start, MPI_Start(&request));
  CALL(Wait, MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Request_free(&request);
  for (int i = 0; i < n * ranks; ++i) check(to[i] == 1000 * (i / n) + rank);
  CALL(Barrier, MPI_Barrier(comm));
  free(from), free(to), free(addends), free(sums);
}

static void* work(void* unused) {
  for (int round = 0; round < ROUNDS; ++round)
    for (int n = 1; n <= MOST; n = 200 * n) calls(MPI_COMM_WORLD, n);
  static int from[MOST], to[MOST];
  const int next[] = {(rank + 1) % ranks}, last[] = {(rank + ranks - 1) % ranks}, one[] = {1};
  MPI_Comm ring, copy;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, last, one, 1, next, one, MPI_INFO_NULL, 0, &ring);
  for (int i = 0; i < ROUNDS; ++i) {
    from[0] = rank + i;
    CALL(Neighbor_alltoall, MPI_Neighbor_alltoall(from, MOST, MPI_INT, to, MOST, MPI_INT, ring));
    check(to[0] == last[0] + i);
  }
  MPI_Comm_free(&ring);
  CALL(Comm_dup, MPI_Comm_dup(MPI_COMM_WORLD, &copy));
  calls(copy, 100);
  CALL(Comm_free, MPI_Comm_free(&copy));
  return unused;
}

static void on_stack(size_t bytes) {
  const size_t guard = 1 << 20;
  unsigned char* const memory =
      mmap(NULL, guard + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, guard, PROT_NONE)) abort();
  stack = memory + guard;
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, bytes) || pthread_create(&thread, &attributes, work, NULL)) abort();
  pthread_join(thread, NULL);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  on_stack((size_t)atoi(argv[1]) << 10);
  MPI_Allreduce(MPI_IN_PLACE, deepest, ALL, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < ALL; ++i) printf("%s %ld\n", names[i], deepest[i]);
  return report();
}
