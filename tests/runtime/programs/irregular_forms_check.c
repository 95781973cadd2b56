/* Makes one call of MPI with messages of different sizes, in one of its forms, several times, and compares the whole
 * receive buffer, gaps too. Every message has other datatypes on its two sides where the call allows it. Knows nothing
 * of Hocket.
 * Usage: irregular_forms_check MODE FORM... ; MODE: blocking, persistent, nonblocking; FORM: NAME[_c][:TOPOLOGY], as in
 * alltoallw, neighbor_allgather_c:grid; TOPOLOGY: edges (several between two ranks, and to oneself), ring, grid.
 * Prints "ok <checks>" from rank 0, exits 1 on a wrong byte; "ok 0 checks" and 77 if this MPI lacks the call. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#endif
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define PERSISTENT_COLLECTIVES 1
#endif

enum { MOST = 64, ROUNDS = 3, MARGIN = 32, TYPES = 6, EVERYBODY = 1000 };
enum mode { BLOCKING, PERSISTENT, NONBLOCKING };
enum name {
  ALLTOALLV,
  ALLTOALLW,
  NEIGHBOR_ALLGATHER,
  NEIGHBOR_ALLGATHERV,
  NEIGHBOR_ALLTOALL,
  NEIGHBOR_ALLTOALLV,
  NEIGHBOR_ALLTOALLW,
  NAMES
};
static const char* const names[NAMES] = {"alltoallv",           "alltoallw",         "neighbor_allgather",
                                         "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv",
                                         "neighbor_alltoallw"};

typedef struct {
  enum mode mode;
  enum name name;
  int large, salt;
  char topology[8];
} Form;

/* What is sent with neighbor_allgather(v): one message to EVERYBODY. */
static int same_to_all(const Form* f) { return f->name == NEIGHBOR_ALLGATHER || f->name == NEIGHBOR_ALLGATHERV; }
static int equal_sizes(const Form* f) { return f->name == NEIGHBOR_ALLGATHER || f->name == NEIGHBOR_ALLTOALL; }
static int type_each(const Form* f) { return f->name == ALLTOALLW || f->name == NEIGHBOR_ALLTOALLW; }

/* Ints of a message over the edge-th edge between two ranks; multiples of four, some nothing. */
static int ints_of(const Form* f, int from, int to, int edge) {
  if (equal_sizes(f) || from == MPI_PROC_NULL || to == MPI_PROC_NULL) return 400 + 4 * f->salt;
  const int lot = (from * 7919 + (to + 1) * 104729 + edge * 12997 + f->salt * 31) % 1009;
  return lot % 7 == 0 && to != EVERYBODY ? 0 : 4 * lot + 4;
}

static int value(int from, int to, int edge, int i, int salt) {
  return from * 1000003 + to * 7919 + edge * 101 + i * 31 + salt;
}

/* `ints` ints as elements of one type; `kind` says of which. Memory: at most three times as much, and MARGIN. */
static MPI_Datatype type_of(int kind, int ints, int* count) {
  MPI_Datatype type, inner;
  *count = 1;
  switch (kind) {
    case 0: /* bytes */
      MPI_Type_contiguous(1, MPI_BYTE, &type);
      *count = 4 * ints;
      break;
    case 1:
      MPI_Type_contiguous(ints, MPI_INT, &type);
      break;
    case 2: /* every second */
      MPI_Type_vector(ints, 1, 2, MPI_INT, &type);
      break;
    case 3: /* begins before its address */
      MPI_Type_create_resized(MPI_INT, -8, 12, &type);
      *count = ints;
      break;
    case 4: { /* rows in the middle: one piece */
      const int sizes[2] = {ints / 4 + 2, 4}, parts[2] = {ints / 4, 4}, starts[2] = {1, 0};
      MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
      break;
    }
    default: { /* columns in the middle, as Fortran has them, of pairs */
      const int sizes[2] = {ints / 4 + 1, 3}, parts[2] = {ints / 4, 2}, starts[2] = {1, 1};
      MPI_Type_contiguous(2, MPI_INT, &inner);
      MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, inner, &type);
      MPI_Type_free(&inner);
    }
  }
  MPI_Type_commit(&type);
  return type;
}

/* Block m of n: what this rank sends to, or gets from, peer[m]. */
typedef struct {
  int n, sends, peer[MOST], edge[MOST], ints[MOST], count[MOST];
  MPI_Aint at[MOST]; /* bytes */
  MPI_Datatype type[MOST];
  size_t room;
  char* memory;
} Side;

static void add_block(Side* s, const Form* f, int rank, int peer, int edge) {
  const int m = s->n++, from = s->sends ? rank : peer, to = same_to_all(f) ? EVERYBODY : s->sends ? peer : rank;
  s->peer[m] = peer;
  s->edge[m] = same_to_all(f) ? 0 : edge;
  s->ints[m] = ints_of(f, from, to, s->edge[m]);
  /* All blocks of a call are of one type, but for those that have a type each. */
  const int kind = type_each(f) && s->ints[m] > 0 ? (m * 5 + f->salt + 2 * s->sends) % TYPES
                   : (f->salt + s->sends) % 2     ? 0
                                                  : 3;
  s->type[m] = type_of(kind, s->ints[m], &s->count[m]);
  MPI_Aint lower, extent;
  MPI_Type_get_extent(s->type[m], &lower, &extent);
  const MPI_Aint gap = equal_sizes(f) ? 0 : extent * 3;
  const MPI_Aint unit = extent < 0 ? 1 : extent;
  if (m == 0)
    s->room = (MARGIN + unit - 1) / unit * unit;
  else if (!equal_sizes(f))
    s->room = (s->room + unit - 1) / unit * unit;
  s->at[m] = (MPI_Aint)s->room;
  s->room += (size_t)(extent * s->count[m] + gap);
}

static Side side_of(const Form* f, int rank, const int* peers, int n, int sends) {
  Side s = {.sends = sends};
  if (same_to_all(f) && sends) {
    add_block(&s, f, rank, EVERYBODY, 0);
  } else {
    for (int m = 0; m < n; ++m) {
      int edge = 0;
      for (int j = 0; j < m; ++j) edge += peers[j] == peers[m];
      add_block(&s, f, rank, peers[m], edge);
    }
  }
  s.room += MARGIN;
  s.memory = malloc(s.room);
  return s;
}

/* Everything that a correct call leaves there. */
static void fill(const Side* s, const Form* f, int rank, int round, char* memory) {
  memset(memory, 0xAB, s->room);
  for (int m = 0; m < s->n; ++m) {
    const int peer = s->peer[m], from = s->sends ? rank : peer,
              to = same_to_all(f) ? EVERYBODY
                   : s->sends     ? peer
                                  : rank;
    if (peer == MPI_PROC_NULL || s->ints[m] == 0) continue;
    int *bytes = malloc(sizeof(int) * (size_t)s->ints[m]), position = 0;
    for (int i = 0; i < s->ints[m]; ++i) bytes[i] = value(from, to, s->edge[m], i, round);
    MPI_Unpack(bytes, 4 * s->ints[m], &position, memory + s->at[m], s->count[m], s->type[m], MPI_COMM_SELF);
    free(bytes);
  }
}

static void compare(const Side* s, const Form* f, int rank, int round) {
  char* expected = malloc(s->room);
  fill(s, f, rank, round, expected);
  check(memcmp(expected, s->memory, s->room) == 0);
  free(expected);
}

static void drop(Side* s) {
  for (int m = 0; m < s->n; ++m) MPI_Type_free(&s->type[m]);
  free(s->memory);
}

/* What a call takes of a side. */
typedef struct {
  int counts[MOST], displs[MOST];
  MPI_Aint places[MOST];
#ifdef LARGE_COUNTS
  MPI_Count large[MOST];
#endif
  MPI_Datatype types[MOST];
} Arrays;

static Arrays arrays_of(const Side* s, const Form* f) {
  Arrays a;
  for (int m = 0; m < s->n; ++m) {
    MPI_Aint lower, unit = 1;
    if (!type_each(f)) MPI_Type_get_extent(s->type[0], &lower, &unit);
    a.counts[m] = s->count[m];
    a.places[m] = s->at[m] / unit;
    a.displs[m] = (int)a.places[m];
#ifdef LARGE_COUNTS
    a.large[m] = s->count[m];
#endif
    MPI_Type_dup(s->type[m], &a.types[m]);
  }
  return a;
}

#ifdef PERSISTENT_COLLECTIVES
#define MAKE(Name, suffix, ...) MPI_##Name##_init##suffix(__VA_ARGS__, comm, MPI_INFO_NULL, request)
#else
#define MAKE(Name, suffix, ...) exit(77)
#endif
#define CALL(Name, name, suffix, ...)                                            \
  do {                                                                           \
    if (f->mode == BLOCKING) MPI_##Name##suffix(__VA_ARGS__, comm);              \
    if (f->mode == NONBLOCKING) MPI_I##name##suffix(__VA_ARGS__, comm, request); \
    if (f->mode == PERSISTENT) MAKE(Name, suffix, __VA_ARGS__);                  \
  } while (0)
#define CALLS_OF(suffix, counts, displs)                                                                               \
  switch (f->name) {                                                                                                   \
    case ALLTOALLV:                                                                                                    \
      CALL(Alltoallv, alltoallv, suffix, out, s->counts, s->displs, s->types[0], in, r->counts, r->displs,             \
           r->types[0]);                                                                                               \
      break;                                                                                                           \
    case ALLTOALLW:                                                                                                    \
      CALL(Alltoallw, alltoallw, suffix, out, s->counts, s->displs, s->types, in, r->counts, r->displs, r->types);     \
      break;                                                                                                           \
    case NEIGHBOR_ALLGATHER:                                                                                           \
      CALL(Neighbor_allgather, neighbor_allgather, suffix, first_out, s->counts[0], s->types[0], first_in,             \
           r->counts[0], r->types[0]);                                                                                 \
      break;                                                                                                           \
    case NEIGHBOR_ALLGATHERV:                                                                                          \
      CALL(Neighbor_allgatherv, neighbor_allgatherv, suffix, first_out, s->counts[0], s->types[0], in, r->counts,      \
           r->displs, r->types[0]);                                                                                    \
      break;                                                                                                           \
    case NEIGHBOR_ALLTOALL:                                                                                            \
      CALL(Neighbor_alltoall, neighbor_alltoall, suffix, first_out, s->counts[0], s->types[0], first_in, r->counts[0], \
           r->types[0]);                                                                                               \
      break;                                                                                                           \
    case NEIGHBOR_ALLTOALLV:                                                                                           \
      CALL(Neighbor_alltoallv, neighbor_alltoallv, suffix, out, s->counts, s->displs, s->types[0], in, r->counts,      \
           r->displs, r->types[0]);                                                                                    \
      break;                                                                                                           \
    default:                                                                                                           \
      CALL(Neighbor_alltoallw, neighbor_alltoallw, suffix, out, s->counts, s->places, s->types, in, r->counts,         \
           r->places, r->types);                                                                                       \
  }

static void make_call(const Form* f, const Side* send, const Side* receive, Arrays* s, Arrays* r, MPI_Comm comm,
                      MPI_Request* request) {
  char *const out = send->memory, *const in = receive->memory;
  char *const first_out = out + send->at[0], *const first_in = in + receive->at[0];
  if (!f->large) {
    CALLS_OF(, counts, displs)
    return;
  }
#ifdef LARGE_COUNTS
#define counts large
#define displs places
  CALLS_OF(_c, large, places)
#undef counts
#undef displs
#else
  exit(77);
#endif
}

static void rounds(const Form* f, MPI_Comm comm, const int* sources, int in, const int* destinations, int out) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  Side send = side_of(f, rank, destinations, out, 1), receive = side_of(f, rank, sources, in, 0);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Datatype others[2 * MOST];
  for (int round = 0; round < ROUNDS; ++round) {
    fill(&send, f, rank, round, send.memory);
    memset(receive.memory, 0xAB, receive.room);
    if (round == 0 || f->mode != PERSISTENT) {
      Arrays s = arrays_of(&send, f), r = arrays_of(&receive, f);
      make_call(f, &send, &receive, &s, &r, comm, &request);
      for (int m = 0; m < send.n; ++m) MPI_Type_free(&s.types[m]);
      for (int m = 0; m < receive.n; ++m) MPI_Type_free(&r.types[m]);
      /* in their places */
      for (int m = 0; m < send.n + receive.n; ++m) others[m] = type_of(2, 8, &(int){0});
      if (f->mode == NONBLOCKING) MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (f->mode == PERSISTENT) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    compare(&receive, f, rank, round);
    if (round == ROUNDS - 1 || f->mode != PERSISTENT)
      for (int m = 0; m < send.n + receive.n; ++m) MPI_Type_free(&others[m]);
  }
  if (f->mode == PERSISTENT) MPI_Request_free(&request);
  drop(&send);
  drop(&receive);
}

static void run(const Form* f) {
  int rank, n, all[MOST], neighbours[4];
  MPI_Comm comm;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int i = 0; i < n; ++i) all[i] = i;
  const int next = (rank + 1) % n, before = (rank + n - 1) % n, over = (rank + 2) % n, under = (rank + n - 2) % n;
  const int weights[] = {1, 2, 3, 4, 5, 6};
  if (f->name <= ALLTOALLW) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    rounds(f, comm, all, n, all, n);
  } else if (strcmp(f->topology, "grid") == 0) { /* ends have neighbours that do not exist */
    int dims[2] = {0, 0};
    MPI_Dims_create(n, 2, dims);
    const int periods[2] = {dims[0] > 2, 0};
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &comm);
    for (int d = 0; d < 2; ++d) MPI_Cart_shift(comm, d, 1, &neighbours[2 * d], &neighbours[2 * d + 1]);
    rounds(f, comm, neighbours, 4, neighbours, 4);
  } else if (strcmp(f->topology, "ring") == 0) {
    int index[MOST], edges[2 * MOST];
    for (int i = 0; i < n; ++i) {
      index[i] = 2 * (i + 1);
      edges[2 * i] = (i + 1) % n;
      edges[2 * i + 1] = (i + n - 1) % n;
    }
    MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 0, &comm);
    const int two[2] = {next, before};
    rounds(f, comm, two, 2, two, 2);
  } else {
    const int destinations[] = {next, rank, over, next, rank, next},
              sources[] = {before, under, rank, before, before, rank};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 6, sources, weights, 6, destinations, weights, MPI_INFO_NULL, 0,
                                   &comm);
    rounds(f, comm, sources, 6, destinations, 6);
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static const char* const modes[] = {"blocking", "persistent", "nonblocking"};
  for (int a = 2; a < argc; ++a) {
    Form f = {.salt = a - 2, .topology = "edges"};
    char* const topology = strchr(argv[a], ':');
    if (topology != NULL) {
      strncpy(f.topology, topology + 1, sizeof f.topology - 1);
      *topology = 0;
    }
    char* const suffix = strstr(argv[a], "_c");
    f.large = suffix != NULL;
    if (f.large) *suffix = 0;
    while (f.mode < NONBLOCKING && strcmp(modes[f.mode], argv[1]) != 0) ++f.mode;
    while (f.name < NAMES && strcmp(names[f.name], argv[a]) != 0) ++f.name;
    if (f.name == NAMES) return 2;
    run(&f);
  }
  return report();
}
