/* Times a collective call for several sizes and checks every byte. An ordinary MPI program.
 * Usage: collective_times CALL SIZE:REPETITIONS... ; "SIZE SECONDS" per repetition from rank 0. SIZE: bytes of a
 * message or block, of the whole vector for allreduce, bcast and reduce. Sums are of integers. halo is no collective:
 * four neighbours of a periodic grid of ranks, as square as MPI_Dims_create makes it, get SIZE each; the grid's ranks
 * may be reordered. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WARM_UP_BYTES 65536

/* Byte i of the message of this round. */
static char pattern(int from, int to, int i, int round) { return (char)(from * 7 + to * 13 + i * 3 + i / 251 + round); }

/* A barrier that sleeps: the ranks outnumber the cores. */
static void settle(void) {
  MPI_Request request;
  int done = 0;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  while (!done) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) usleep(300);
  }
}

static int rank, n;
static MPI_Comm all = MPI_COMM_WORLD;

static void alltoall(void* out, void* in, int bytes) {
  MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void allgather(void* out, void* in, int bytes) {
  MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void reduce_scatter(void* out, void* in, int bytes) {
  MPI_Reduce_scatter_block(out, in, bytes / (int)sizeof(int), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void allreduce(void* out, void* in, int bytes) {
  MPI_Allreduce(out, in, bytes / (int)sizeof(int), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce(void* out, void* in, int bytes) {
  MPI_Reduce(out, in, bytes / (int)sizeof(int), MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void bcast(void* out, void* in, int bytes) {
  if (rank == 0) memcpy(in, out, (size_t)bytes);
  MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void gather(void* out, void* in, int bytes) {
  MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void scatter(void* out, void* in, int bytes) {
  MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void gatherv(void* out, void* in, int bytes) {
  int* counts = malloc(2 * (size_t)n * sizeof(int));
  for (int p = 0; p < n; ++p) {
    counts[p] = bytes;
    counts[n + p] = p * bytes;
  }
  MPI_Gatherv(out, bytes, MPI_BYTE, in, counts, counts + n, MPI_BYTE, 0, MPI_COMM_WORLD);
  free(counts);
}

static int is_beside(int a, int b, int side) { return a != b && ((a + 1) % side == b || (b + 1) % side == a); }
static int to_neighbour(int from, int to, int bytes) {
  int sides[2] = {0, 0};
  MPI_Dims_create(n, 2, sides);
  const int columns = sides[0], row = from / columns, column = from % columns;
  const int along = to / columns == row && is_beside(column, to % columns, columns);
  return along || (to % columns == column && is_beside(row, to / columns, sides[1])) ? bytes : 0;
}
static void halo(void* out, void* in, int bytes) {
  MPI_Request requests[8]; /* four neighbours at most, both ways */
  int count = 0;
  for (int p = 0; p < n; ++p) {
    if (to_neighbour(p, rank, bytes) == 0) continue;
    MPI_Irecv((char*)in + (size_t)p * bytes, bytes, MPI_BYTE, p, 0, all, &requests[count++]);
    MPI_Isend((char*)out + (size_t)p * bytes, bytes, MPI_BYTE, p, 0, all, &requests[count++]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static const struct call {
  const char* name;
  void (*run)(void* out, void* in, int bytes);
  int sends, gets; /* blocks: 0 for one, 1 for one of each rank */
  int sums;
  int (*length)(int from, int to, int bytes); /* of a message; NULL: of a block */
} calls[] = {{"alltoall", alltoall, 1, 1, 0, NULL},   {"allgather", allgather, 0, 1, 0, NULL},
             {"allreduce", allreduce, 0, 0, 1, NULL}, {"reducescatter", reduce_scatter, 1, 0, 1, NULL},
             {"reduce", reduce, 0, 0, 1, NULL},       {"broadcast", bcast, 0, 0, 0, NULL},
             {"gather", gather, 0, 1, 0, NULL},       {"gatherv", gatherv, 0, 1, 0, NULL},
             {"scatter", scatter, 1, 0, 0, NULL},     {"halo", halo, 1, 1, 0, to_neighbour}};

/* Whether only rank 0 gets something. */
static int into_root(const struct call* call) {
  return call->run == reduce || call->run == gather || call->run == gatherv;
}

static int summand(int from, int i, int round) { return (from + 1) * (i % 997 + round); }

static void fill(const struct call* call, char* out, int bytes, int round) {
  const int blocks = call->sends ? n : 1;
  if (call->sums)
    for (int i = 0; i < blocks * (bytes / (int)sizeof(int)); ++i) ((int*)out)[i] = summand(rank, i, round);
  else
    for (int p = 0; p < blocks; ++p)
      for (int i = 0; i < bytes; ++i) out[(size_t)p * bytes + i] = pattern(rank, p, i, round);
}

static int is_wrong(const struct call* call, const char* in, int bytes, int round) {
  int wrong = 0;
  if (into_root(call) && rank != 0) return 0;
  if (call->sums) {
    const int count = bytes / (int)sizeof(int), first = call->sends ? rank * count : 0;
    for (int i = 0; i < count; ++i) wrong |= ((const int*)in)[i] != n * (n + 1) / 2 * summand(0, first + i, round);
    return wrong;
  }
  for (int p = 0; p < (call->gets ? n : 1); ++p)
    for (int i = 0; i < (call->length ? call->length(p, rank, bytes) : bytes); ++i)
      wrong |= in[(size_t)p * bytes + i] != pattern(call->gets ? p : 0, call->sends ? rank : 0, i, round);
  return wrong;
}

int main(int argc, char** argv) {
  int wrong = 0, any_wrong;
  const struct call* call = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (size_t i = 0; argc > 2 && i < sizeof calls / sizeof *calls; ++i)
    if (!strcmp(argv[1], calls[i].name)) call = &calls[i];
  if (call == NULL) {
    if (rank == 0) fprintf(stderr, "usage: collective_times alltoall|allgather|... SIZE:REPETITIONS...\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (call->run == halo) {
    int sides[2] = {0, 0};
    MPI_Dims_create(n, 2, sides);
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){sides[1], sides[0]}, (int[]){1, 1}, 1, &all);
    MPI_Comm_rank(all, &rank);
  }
  for (int arg = 2; arg < argc; ++arg) {
    int size = 0, repetitions = 1;
    sscanf(argv[arg], "%d:%d", &size, &repetitions);
    char* out = malloc((size_t)size * (size_t)(call->sends ? n : 1));
    char* in = malloc((size_t)size * (size_t)(call->gets ? n : 1));
    for (int round = 0; round <= repetitions; ++round) { /* round 0 opens connections and is not reported */
      int bytes = round == 0 && size > WARM_UP_BYTES ? WARM_UP_BYTES : size;
      fill(call, out, bytes, round);
      memset(in, 1, (size_t)bytes * (size_t)(call->gets ? n : 1));
      settle();
      double start = MPI_Wtime(), seconds, slowest;
      call->run(out, in, bytes);
      seconds = MPI_Wtime() - start;
      settle();
      wrong |= is_wrong(call, in, bytes, round);
      MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, all);
      if (rank == 0 && round > 0) {
        printf("%d %.6f\n", size, slowest);
        fflush(stdout);
      }
    }
    free(out);
    free(in);
  }
  MPI_Allreduce(&wrong, &any_wrong, 1, MPI_INT, MPI_MAX, all);
  if (rank == 0 && any_wrong) fprintf(stderr, "WRONG DATA\n");
  MPI_Finalize();
  return any_wrong;
}
