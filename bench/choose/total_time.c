/* total_time CALL BYTES CALLS: seconds of all calls together, the largest over the ranks; of each call, the mean over
 * the ranks; and of agreeing on one number; every message is checked. Nothing but the calls is timed. Equal, dense,
 * fresh, skewed and sparse are MPI_Alltoallv: all messages of BYTES; of half to one and a half BYTES, the same in all
 * calls; other ones in each call; of 16 BYTES for one in 32 and half of BYTES for the others, other ones in each
 * call; or one of BYTES in four. Union: what the columns send, by one MPI_Alltoallv of all ranks. Columns: an
 * MPI_Alltoall on the four columns of a grid of ranks at once; pencil: on its rows, then on its columns, in turn.
 * Changing: an MPI_Alltoall of BYTES, of half of it, and so on down to a 32nd, and again. Allreduce and bcast: BYTES
 * in all, bcast from rank 0; reduce_scatter: MPI_Reduce_scatter_block, BYTES to each rank. Reductions are MPI_BXOR:
 * Open MPI's sums of bytes saturate. After each bcast there is a barrier, timed with it: ranks agree on nothing in
 * calls in which one need not wait. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AGREEMENTS = 10, GRID_COLUMNS = 4 };
enum Call {
  ALLTOALL, ALLGATHER, EQUAL, DENSE, FRESH, SKEWED, SPARSE, UNION, COLUMNS, PENCIL, CHANGING, ALLREDUCE,
  REDUCE_SCATTER, BCAST, CALLS
};

/* One pair in `of`, with no pattern that a network could have. */
static int is_drawn(int from, int to, unsigned of) {
  unsigned hash = (unsigned)from * 0x9E3779B1u ^ (unsigned)to * 0x85EBCA77u;
  hash = (hash ^ hash >> 15) * 0x2C1B3C6Du;
  return (hash >> 20) % of == 0;
}

static int length(enum Call call, int bytes, int from, int to, int i) {
  const int mixed = (from * 31 + to * 17 + (call == FRESH ? i * (7 + from % 3 + to % 5) : 0)) % 16;
  if (call == SKEWED) return is_drawn(from + 32 * i, to, 32) ? 16 * bytes : bytes / 2;
  if (call == SPARSE) return is_drawn(from, to, 4) ? bytes : 0;
  if (call == UNION) return from % GRID_COLUMNS == to % GRID_COLUMNS ? bytes : 0;
  return call == DENSE || call == FRESH ? bytes / 2 + bytes / 16 * mixed : bytes;
}

struct messages {
  int *sent, *received, *places, *origins;
};

static void size(struct messages* m, enum Call call, int bytes, int rank, int n, int i) {
  for (int peer = 0, to = 0, from = 0; peer < n; ++peer) {
    m->sent[peer] = length(call, bytes, rank, peer, i);
    m->received[peer] = length(call, bytes, peer, rank, i);
    m->places[peer] = to;
    m->origins[peer] = from;
    to += m->sent[peer];
    from += m->received[peer];
  }
}

static unsigned char value(int from, int to, int call) { return (unsigned char)(from * 7 + to * 3 + call); }

/* Of all ranks, for `to`. */
static unsigned char combined(int n, int to, int call) {
  unsigned char all = 0;
  for (int from = 0; from < n; ++from) all ^= value(from, to, call);
  return all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  int rank, n;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  static const char* const names[] = {"alltoall", "allgather", "equal",   "dense",  "fresh",    "skewed",    "sparse",
                                      "union",    "columns",   "pencil",  "changing", "allreduce", "reduce_scatter",
                                      "bcast"};
  int call = 0;
  while (call < CALLS && strcmp(argv[1], names[call]) != 0) ++call;
  if (call == CALLS) MPI_Abort(MPI_COMM_WORLD, 2);
  const int bytes = atoi(argv[2]), calls = atoi(argv[3]);
  const int one_for_all = call == ALLGATHER || call == ALLREDUCE || call == BCAST;
  const int results = call == ALLREDUCE || call == REDUCE_SCATTER || call == BCAST ? 1 : n;
  const size_t stride = 16 * (size_t)bytes; /* a skewed row is that long at worst */
  unsigned char *out = calloc((size_t)n, stride), *in = calloc((size_t)n, stride);
  int* numbers = malloc(4 * (size_t)n * sizeof(int));
  int *sent = numbers, *received = numbers + n, *places = numbers + 2 * n, *origins = numbers + 3 * n;
  struct messages messages = {sent, received, places, origins};
  size(&messages, call, bytes, rank, n, 0);
  const int grid = call == COLUMNS || call == PENCIL;
  MPI_Comm row = MPI_COMM_NULL, column = MPI_COMM_NULL;
  if (grid) {
    MPI_Comm_split(MPI_COMM_WORLD, rank / GRID_COLUMNS, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % GRID_COLUMNS, rank, &column);
  }
  long wrong = 0, all_wrong = 0;
  double total = 0, longest = 0, *own = malloc(2 * (size_t)calls * sizeof(double)), *sums = own + calls;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < calls; ++i) {
    if (call == FRESH || call == SKEWED) size(&messages, call, bytes, rank, n, i);
    MPI_Comm comm = call == PENCIL && i % 2 == 0 ? row : grid ? column : MPI_COMM_WORLD;
    int self, members;
    MPI_Comm_rank(comm, &self);
    MPI_Comm_size(comm, &members);
    if (call == CHANGING)
      for (int peer = 0; peer < n; ++peer) {
        sent[peer] = received[peer] = bytes >> i % 6 > 0 ? bytes >> i % 6 : 1;
        places[peer] = origins[peer] = peer * sent[peer];
      }
    for (int to = 0; to < members; ++to) {
      if (sent[to] == 0) continue;
      unsigned char* message = out + places[to];
      message[0] = message[sent[to] - 1] = value(self, one_for_all ? 0 : to, i);
    }
    const double start = MPI_Wtime();
    if (call == ALLGATHER)
      MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else if (call == ALLTOALL || call == CHANGING || grid)
      MPI_Alltoall(out, sent[0], MPI_BYTE, in, sent[0], MPI_BYTE, comm);
    else if (call == ALLREDUCE)
      MPI_Allreduce(out, in, bytes, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
    else if (call == REDUCE_SCATTER)
      MPI_Reduce_scatter_block(out, in, bytes, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
    else if (call == BCAST)
      MPI_Bcast(rank == 0 ? out : in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD), MPI_Barrier(MPI_COMM_WORLD);
    else
      MPI_Alltoallv(out, sent, places, MPI_BYTE, in, received, origins, MPI_BYTE, MPI_COMM_WORLD);
    total += own[i] = MPI_Wtime() - start;
    for (int from = 0; from < (results < members ? results : members); ++from) {
      if (received[from] == 0) continue;
      const unsigned char* message = (call == BCAST && rank == 0 ? out : in) + origins[from];
      const int to = one_for_all ? 0 : self;
      const unsigned char right = call == ALLREDUCE || call == REDUCE_SCATTER ? combined(n, to, i) : value(from, to, i);
      wrong += message[0] != right || message[received[from] - 1] != right;
    }
  }
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(&total, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(own, sums, calls, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  double agreed = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < AGREEMENTS; ++i) MPI_Allreduce(&total, &agreed, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("agree %.9f\n", (MPI_Wtime() - start) / AGREEMENTS);
    for (int i = 0; i < calls; ++i) printf("%s%.9f", i ? ";" : "costs ", sums[i] / n);
    printf("\ntotal %.9f %s\n", longest, all_wrong ? "WRONG DATA" : "right");
  }
  if (grid) {
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
  }
  free(own);
  free(out);
  free(in);
  free(numbers);
  MPI_Finalize();
  return all_wrong != 0;
}
