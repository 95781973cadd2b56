/* Usage: choice_calls FORM BYTES CALLS NATIVE_US SCHEDULED_US [LOOK_US [LATER_US]]
 * FORM: blocking, all-gather, broadcast (a barrier between two), broadcasts (nothing between them), all-reduce (of all
 * ranks' blocks), sums (all-reduces of floating-point numbers, the same in each call), sums-late (all-reduces; sums in
 * the last quarter of the calls), sums-early (the same, and a sum in the first call), sums-later (nonblocking sums with
 * a barrier after each), vector (MPI_Alltoallv, other sizes in each call), vector-skewed (the same, with one message of
 * each rank 32 times as long as the others), vector-skewed-same (the same sizes in all calls), vector-skewed-again
 * (these on one copy of MPI_COMM_WORLD, which is freed, and then on another), vector-later (in the last quarter of the
 * calls nonblocking ones, with a barrier after each), both (persistent after blocking), sizes (blocking; BYTES in the
 * first call, half of it in the next, down to a 32nd, and so on), left (blocking; BYTES in the first two calls, half of
 * it in all others), hiccup (blocking; the library's second call takes NATIVE_US, all others a thousandth), opens (the
 * same of the first), or stalls (blocking; the library's call takes NATIVE_US on one rank in turn, a thousandth on the
 * others, as if a message to it had been lost). The runtime sees this program's clock: a call that sends no message of
 * the runtime's takes NATIVE_US, another one SCHEDULED_US. So what it finds out does not depend on the machine.
 * LOOK_US: nor does what meetings and small messages take: MPI_Wtime moves by so much whenever the runtime looks at it,
 * from the seventh time on by LATER_US. Prints how many calls (where there are any: sums) were scheduled, which were
 * the first and the last, and how often this rank agreed with the others on something. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "checks.h"

static long native_us = 0, scheduled_us = 0;
static long now_us = 1000000; /* moves while the runtime looks at it */
static long look_us = -1;     /* by MPI_Wtime; negative: real time */
static long later_us = -1;    /* the same, once the ranks have begun to meet */
static int scheduled_call = 0;

static int is_runtime(void* caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != NULL && strstr(info.dli_fname, "hocket_runtime") != NULL;
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  if (!is_runtime(__builtin_return_address(0))) return (int)syscall(SYS_clock_gettime, clock, time);
  now_us += scheduled_call ? 1 : native_us;
  time->tv_sec = now_us / 1000000;
  time->tv_nsec = now_us % 1000000 * 1000;
  return 0;
}

double PMPI_Wtime(void) {
  static long looked_us = 0, looks = 0;
  double (*library)(void) = (double (*)(void))dlsym(RTLD_NEXT, "PMPI_Wtime");
  if (look_us < 0 || !is_runtime(__builtin_return_address(0))) return library();
  return (double)(looked_us += ++looks > 6 ? later_us : look_us) * 1e-6;
}

static unsigned long agreements(void) {
  void* runtime = dlopen(strchr(getenv("HOCKET_RUNTIME"), '/'), RTLD_LAZY | RTLD_NOLOAD);
  const unsigned long* number = runtime != NULL ? dlsym(runtime, "hocket_agreements") : NULL;
  return number != NULL ? *number : 0;
}

/* A message of the runtime's begins: the call is a scheduled one. */
static void begins(void* caller, int count) {
  if (count <= 1 || scheduled_call || !is_runtime(caller)) return;
  scheduled_call = 1;
  now_us += scheduled_us;
}

typedef int (*Send)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int PMPI_Isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  Send library = (Send)dlsym(RTLD_NEXT, "PMPI_Isend");
  begins(__builtin_return_address(0), count);
  return library(buf, count, type, dest, tag, comm, request);
}
typedef int (*Receive)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int PMPI_Irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  Receive library = (Receive)dlsym(RTLD_NEXT, "PMPI_Irecv");
  begins(__builtin_return_address(0), count);
  return library(buf, count, type, source, tag, comm, request);
}

static unsigned char value(int from, int to, int i, int round) {
  return (unsigned char)(from * 31 + to * 7 + i + round * 5);
}

struct buffers {
  int rank, n, bytes, gather, reduce, skewed;
  unsigned char *out, *in;
};

static int length(const struct buffers* b, int from, int to) {
  return b->skewed && (from + 1) % b->n != to ? b->bytes / 32 : b->bytes;
}

static void fill(struct buffers* b, int round) {
  for (int to = 0; to < (b->gather ? 1 : b->n); ++to)
    for (int i = 0; i < b->bytes; ++i) b->out[to * b->bytes + i] = value(b->rank, to, i, round);
  memset(b->in, 0, (size_t)(b->n * b->bytes));
}

/* Of the bytes that all ranks have sent to this one; all of them know all. */
static unsigned char sum(const struct buffers* b, int to, int i, int round) {
  unsigned char all = 0;
  for (int from = 0; from < b->n; ++from) all ^= value(from, to, i, round);
  return all;
}

static int right(const struct buffers* b, int round) {
  if (b->reduce) {
    for (int to = 0; to < b->n; ++to)
      for (int i = 0; i < b->bytes; ++i)
        if (b->in[to * b->bytes + i] != sum(b, to, i, round)) return 0;
    return 1;
  }
  for (int from = 0; from < b->n; ++from)
    for (int i = 0; i < length(b, from, b->rank); ++i)
      if (b->in[from * b->bytes + i] != value(from, b->gather ? 0 : b->rank, i, round)) return 0;
  return 1;
}

static double term(int rank, int i) { return (1.0 + i) / (3.0 + rank + i % 7); }

/* They round, and each call comes to the same bits unless who adds them up may change. */
static void add_up(const struct buffers* b, int later) {
  static double* first = NULL;
  const int count = b->n * b->bytes / (int)sizeof(double);
  double *from = (double*)b->out, *to = (double*)b->in;
  for (int i = 0; i < count; ++i) from[i] = term(b->rank, i);
  if (later) {
    MPI_Request request;
    MPI_Iallreduce(from, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    double sum = 0;
    for (int rank = 0; rank < b->n; ++rank) sum += term(rank, i);
    wrong += !(to[i] > sum * (1 - 1e-12) && to[i] < sum * (1 + 1e-12));
  }
  check(wrong == 0);
  const size_t size = (size_t)count * sizeof(double);
  const char* const by = getenv("HOCKET_SUMS");
  if (by != NULL && strcmp(by, "free") == 0) return;
  if (first == NULL) first = memcpy(malloc(size), to, size);
  check(memcmp(first, to, size) == 0);
}

int main(int argc, char** argv) {
  int threads;
  if (argc > 1 && strcmp(argv[1], "sums-later") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads); /* so that they can be scheduled */
  else
    MPI_Init(&argc, &argv);
  if (argc < 6 || argc > 8) MPI_Abort(MPI_COMM_WORLD, 2);
  const int calls = atoi(argv[3]);
  struct buffers b = {.bytes = atoi(argv[2]),
                      .gather = strcmp(argv[1], "all-gather") == 0,
                      .skewed = strncmp(argv[1], "vector-skewed", 13) == 0,
                      .reduce = strcmp(argv[1], "all-reduce") == 0 || strncmp(argv[1], "sums-", 5) == 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &b.n);
  b.out = malloc((size_t)(b.n * b.bytes));
  b.in = malloc((size_t)(b.n * b.bytes));
  native_us = atol(argv[4]);
  scheduled_us = atol(argv[5]);
  if (argc > 6) look_us = later_us = atol(argv[6]);
  if (argc > 7) later_us = atol(argv[7]);
  const int vector = strncmp(argv[1], "vector", 6) == 0, sizes = strcmp(argv[1], "sizes") == 0, most = b.bytes;
  const int again = strcmp(argv[1], "vector-skewed-again") == 0;
  const int same = again || strcmp(argv[1], "vector-skewed-same") == 0;
  MPI_Comm comm = MPI_COMM_WORLD;
  int* counts = malloc(3 * (size_t)b.n * sizeof(int));
  int *places = counts + b.n, *received = places + b.n;
  const int stalls = strcmp(argv[1], "stalls") == 0, left = strcmp(argv[1], "left") == 0,
            hiccup = strcmp(argv[1], "hiccup") == 0, opens = strcmp(argv[1], "opens") == 0;
  const long stalled_us = native_us;
  const int sums = strncmp(argv[1], "sums", 4) == 0, early = strcmp(argv[1], "sums-early") == 0;
  const int later = strcmp(argv[1], "sums-later") == 0, mixed = early || strcmp(argv[1], "sums-late") == 0;
  const int casts = strncmp(argv[1], "broadcast", 9) == 0, waits = strcmp(argv[1], "broadcast") == 0;
  const int vector_later = strcmp(argv[1], "vector-later") == 0;
  int scheduled = 0, first = -1, last = -1;
  for (int round = 0; round < calls; ++round) {
    if (waits) MPI_Barrier(MPI_COMM_WORLD);
    if (again && round % (calls / 2) == 0) {
      if (round > 0) MPI_Comm_free(&comm);
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    scheduled_call = 0;
    if (sizes) b.bytes = most >> round % 6;
    if (left) b.bytes = most >> (round >= 2);
    if (vector && !same) b.bytes = most - most / 64 * (round % 8);
    for (int i = 0; i < b.n; ++i) {
      counts[i] = length(&b, b.rank, i);
      received[i] = length(&b, i, b.rank);
      places[i] = i * b.bytes;
    }
    if (stalls) native_us = round % b.n == b.rank ? stalled_us : stalled_us / 1000;
    if (hiccup || opens) native_us = round == hiccup ? stalled_us : stalled_us / 1000;
    const int is_sum = sums && (!mixed || round >= calls - calls / 4 || (early && round == 0));
    fill(&b, round);
    if (is_sum)
      add_up(&b, later);
    else if (casts)
      MPI_Bcast(b.rank == 0 ? b.out : b.in, b.bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (vector_later && round >= calls - calls / 4) {
      MPI_Request request;
      MPI_Ialltoallv(b.out, counts, places, MPI_BYTE, b.in, received, places, MPI_BYTE, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Barrier(MPI_COMM_WORLD);
    } else if (vector)
      MPI_Alltoallv(b.out, counts, places, MPI_BYTE, b.in, received, places, MPI_BYTE, comm);
    else if (b.reduce)
      MPI_Allreduce(b.out, b.in, b.n * b.bytes, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
    else if (b.gather)
      MPI_Allgather(b.out, b.bytes, MPI_BYTE, b.in, b.bytes, MPI_BYTE, MPI_COMM_WORLD);
    else
      MPI_Alltoall(b.out, b.bytes, MPI_BYTE, b.in, b.bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; casts && b.rank > 0 && i < b.bytes; ++i) check(b.in[i] == value(0, 0, i, round));
    if (!is_sum && !casts) check(right(&b, round));
    if (!scheduled_call || is_sum != sums) continue;
    ++scheduled;
    if (first < 0) first = round;
    last = round;
  }
  int persistent = 0;
  if (strcmp(argv[1], "both") == 0) {
    MPI_Request request;
    scheduled_call = 0;
    MPI_Alltoall_init(b.out, b.bytes, MPI_BYTE, b.in, b.bytes, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    fill(&b, 1);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    persistent = scheduled_call;
    check(right(&b, 1));
    MPI_Request_free(&request);
  }
  if (b.rank == 0)
    printf("scheduled %d first %d last %d persistent %d agreements %lu\n", scheduled, first, last, persistent,
           agreements());
  free(counts);
  free(b.out);
  free(b.in);
  return report();
}
