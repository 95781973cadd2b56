/* What MPI_Alltoallw and its relatives are used for, and misused, every byte checked. Knows nothing of Hocket.
 * Usage: alltoallw_check PART... ; see parts[]. Prints "ok <checks>" from rank 0, exits 1 on a wrong byte. `mistakes`
 * prints what erroneous calls return. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "checks.h"

enum { MOST = 64, ROUNDS = 3 };
static int rank, n;

static int value(int from, int to, int i, int round) { return from * 1000003 + to * 7919 + i * 31 + round; }

static int size_of(int from, int to) { return 300 + 50 * from + 20 * to; }

/* As FFTs do it: an n-th of the rows becomes an n-th of the columns, and back. */
static void transpose(void) {
  enum { PER_RANK = 24 };
  const int size = PER_RANK * n;
  const int of_rows[2] = {PER_RANK, size}, of_columns[2] = {size, PER_RANK}, part[2] = {PER_RANK, PER_RANK};
  int counts[MOST], zeros[MOST];
  MPI_Datatype from_rows[MOST], to_columns[MOST];
  for (int i = 0; i < n; ++i) {
    const int column[2] = {0, i * PER_RANK}, row[2] = {i * PER_RANK, 0};
    counts[i] = 1, zeros[i] = 0;
    MPI_Type_create_subarray(2, of_rows, part, column, MPI_ORDER_C, MPI_DOUBLE, &from_rows[i]);
    MPI_Type_create_subarray(2, of_columns, part, row, MPI_ORDER_C, MPI_DOUBLE, &to_columns[i]);
    MPI_Type_commit(&from_rows[i]), MPI_Type_commit(&to_columns[i]);
  }
  double *rows = malloc(sizeof *rows * PER_RANK * (size_t)size),
         *columns = malloc(sizeof *columns * PER_RANK * (size_t)size);
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < PER_RANK * size; ++i)
      rows[i] = value(rank * PER_RANK + i / size, i % size, 0, round), columns[i] = -1;
    MPI_Alltoallw(rows, counts, zeros, from_rows, columns, counts, zeros, to_columns, MPI_COMM_WORLD);
    for (int i = 0; i < PER_RANK * size; ++i)
      check(columns[i] == value(i / PER_RANK, rank * PER_RANK + i % PER_RANK, 0, round)), rows[i] = -1;
    MPI_Alltoallw(columns, counts, zeros, to_columns, rows, counts, zeros, from_rows, MPI_COMM_WORLD);
    for (int i = 0; i < PER_RANK * size; ++i) check(rows[i] == value(rank * PER_RANK + i / size, i % size, 0, round));
  }
  for (int i = 0; i < n; ++i) MPI_Type_free(&from_rows[i]), MPI_Type_free(&to_columns[i]);
  free(rows), free(columns);
}

/* Where things are is in the types: pieces of memory that have nothing to do with each other. */
static void bottom(void) {
  int one[MOST], zero[MOST], *out[MOST], *in[MOST];
  MPI_Datatype sends[MOST], receives[MOST];
  for (int i = 0; i < n; ++i) {
    const int to = size_of(rank, i), from = size_of(i, rank);
    MPI_Aint at;
    one[i] = 1, zero[i] = 0;
    out[i] = malloc(sizeof(int) * (size_t)to), in[i] = malloc(sizeof(int) * (size_t)from);
    MPI_Get_address(out[i], &at);
    MPI_Type_create_hindexed(1, &to, &at, MPI_INT, &sends[i]);
    MPI_Get_address(in[i], &at);
    MPI_Type_create_hindexed(1, &from, &at, MPI_INT, &receives[i]);
    MPI_Type_commit(&sends[i]), MPI_Type_commit(&receives[i]);
  }
  for (int round = 0; round < ROUNDS; ++round) {
    for (int to = 0; to < n; ++to)
      for (int i = 0; i < size_of(rank, to); ++i) out[to][i] = value(rank, to, i, round);
    MPI_Alltoallw(MPI_BOTTOM, one, zero, sends, MPI_BOTTOM, one, zero, receives, MPI_COMM_WORLD);
    for (int from = 0; from < n; ++from)
      for (int i = 0; i < size_of(from, rank); ++i) check(in[from][i] == value(from, rank, i, round));
  }
  for (int i = 0; i < n; ++i) {
    MPI_Type_free(&sends[i]), MPI_Type_free(&receives[i]);
    free(out[i]), free(in[i]);
  }
}

/* Where nothing is sent there is no type; rank 0 sends to all others and gets from them. MPICH allows it. */
static void nulls(void) {
#ifdef MPICH_VERSION
  int out_counts[MOST], in_counts[MOST], at[MOST];
  MPI_Datatype out_types[MOST], in_types[MOST];
  int *out = malloc(sizeof(int) * 1000 * (size_t)n), *in = malloc(sizeof(int) * 1000 * (size_t)n);
  for (int i = 0; i < n; ++i) {
    const int any = (rank == 0 || i == 0) && rank != i;
    out_counts[i] = in_counts[i] = any ? 1000 : 0;
    out_types[i] = in_types[i] = any ? MPI_INT : MPI_DATATYPE_NULL;
    at[i] = 4000 * i;
  }
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < 1000 * n; ++i) out[i] = value(rank, i / 1000, i, round), in[i] = -1;
    MPI_Alltoallw(out, out_counts, at, out_types, in, in_counts, at, in_types, MPI_COMM_WORLD);
    for (int i = 0; i < 1000 * n; ++i)
      check(in[i] == (in_counts[i / 1000] ? value(i / 1000, rank, rank * 1000 + i % 1000, round) : -1));
  }
  free(out), free(in);
#endif
}

/* Displacements that no int holds. */
static void far(void) {
  enum { INTS = 2000 };
  const MPI_Aint away = (MPI_Aint)3 << 30;
  const size_t room = (size_t)away + sizeof(int) * INTS;
  const int next[2] = {(rank + 1) % n, (rank + 2) % n}, before[2] = {(rank + n - 1) % n, (rank + n - 2) % n};
  const int counts[2] = {INTS, INTS}, weights[2] = {1, 1};
  const MPI_Aint at[2] = {away, 0};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, before, weights, 2, next, weights, MPI_INFO_NULL, 0, &comm);
  char* out = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char* in = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  check(out != MAP_FAILED && in != MAP_FAILED);
  for (int round = 0; round < ROUNDS; ++round) {
    for (int m = 0; m < 2; ++m)
      for (int i = 0; i < INTS; ++i) ((int*)(out + at[m]))[i] = value(rank, next[m], i, round);
    MPI_Neighbor_alltoallw(out, counts, at, types, in, counts, at, types, comm);
    for (int m = 0; m < 2; ++m)
      for (int i = 0; i < INTS; ++i) check(((int*)(in + at[m]))[i] == value(before[m], rank, i, round));
  }
  munmap(out, room), munmap(in, room);
  MPI_Comm_free(&comm);
}

/* Among all but the last rank, in an order of the library's choice. */
static void part(void) {
  MPI_Comm some, comm;
  MPI_Comm_split(MPI_COMM_WORLD, rank == n - 1, -rank, &some);
  int own, size;
  MPI_Comm_rank(some, &own);
  MPI_Comm_size(some, &size);
  if (size > 2) {
    const int next[2] = {(own + 1) % size, (own + 2) % size};
    const int degree = 2, weights[2] = {7, 1};
    int sources[2], destinations[2], in, out, weighted, weights_in[2], weights_out[2];
    MPI_Dist_graph_create(some, 1, &own, &degree, next, weights, MPI_INFO_NULL, 1, &comm);
    MPI_Comm_rank(comm, &own);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    check(in == 2 && out == 2);
    MPI_Dist_graph_neighbors(comm, 2, sources, weights_in, 2, destinations, weights_out);
    int *mine = malloc(sizeof(int) * 3000), *all = malloc(sizeof(int) * 6000);
    for (int round = 0; round < ROUNDS; ++round) {
      for (int i = 0; i < 3000; ++i) mine[i] = value(own, 0, i, round);
      MPI_Neighbor_allgather(mine, 3000, MPI_INT, all, 3000, MPI_INT, comm);
      for (int i = 0; i < 6000; ++i) check(all[i] == value(sources[i / 3000], 0, i % 3000, round));
    }
    free(mine), free(all);
    MPI_Comm_free(&comm);
  }
  MPI_Comm_free(&some);
}

/* Rank 0 alone sends itself less than it expects, which MPICH lets pass; then it alone makes a mistake in a call
 * that waits for nobody, and makes it once more. */
static void alone(void) {
  enum { INTS = 1000 };
  int counts[MOST], expected[MOST], at[MOST];
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int *out = malloc(sizeof(int) * INTS * (size_t)n), *in = malloc(sizeof(int) * INTS * (size_t)n);
  for (int i = 0; i < n; ++i) counts[i] = expected[i] = INTS, at[i] = INTS * i;
#ifdef MPICH_VERSION
  if (rank == 0) counts[0] = INTS / 2;
#endif
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < INTS * n; ++i) out[i] = value(rank, i / INTS, i % INTS, round), in[i] = -1;
    check(MPI_Alltoallv(out, counts, at, MPI_INT, in, expected, at, MPI_INT, comm) == MPI_SUCCESS);
    for (int i = 0; i < INTS * n; ++i)
      check(in[i] == (rank == 0 && i >= counts[0] && i < INTS ? -1 : value(i / INTS, rank, i % INTS, round)));
  }
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) counts[0] = -1;
  const int code =
      MPI_Alltoallv_init(out, counts, at, MPI_INT, in, expected, at, MPI_INT, comm, MPI_INFO_NULL, &request);
  check((code == MPI_SUCCESS) == (rank != 0));
  if (rank == 0)
    check(MPI_Alltoallv_init(out, expected, at, MPI_INT, in, expected, at, MPI_INT, comm, MPI_INFO_NULL, &request) ==
          MPI_SUCCESS);
  MPI_Request_free(&request);
#endif
  free(out), free(in);
  MPI_Comm_free(&comm);
}

static void said(const char* what, int code) {
  int class = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  if (rank == 0) printf("%s: class %d\n", what, class);
}

/* Errors that every rank makes, and that its handler gets. */
static void mistakes(void) {
  MPI_Comm comm, graph;
  int counts[MOST], negative[MOST], at[MOST];
  MPI_Aint places[MOST];
  MPI_Datatype types[MOST], none[MOST];
  MPI_Request request = MPI_REQUEST_NULL;
  const int next = (rank + 1) % n, before = (rank + n - 1) % n, weight = 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Dist_graph_create_adjacent(comm, 1, &before, &weight, 1, &next, &weight, MPI_INFO_NULL, 0, &graph);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
  int *out = calloc(1000 * (size_t)n, sizeof(int)), *in = calloc(1000 * (size_t)n, sizeof(int));
  for (int i = 0; i < n; ++i) {
    counts[i] = 1000, negative[i] = -1, at[i] = 4000 * i, places[i] = 4000 * i;
    types[i] = MPI_INT, none[i] = MPI_DATATYPE_NULL;
  }
  for (int round = 0; round < 2; ++round) {
    said("negative count", MPI_Alltoallw(out, negative, at, types, in, counts, at, types, comm));
    said("no type", MPI_Alltoallw(out, counts, at, none, in, counts, at, types, comm));
    said("no receive type", MPI_Alltoallv(out, counts, at, MPI_INT, in, counts, at, MPI_DATATYPE_NULL, comm));
    said("no communicator", MPI_Alltoallw(out, counts, at, types, in, counts, at, types, MPI_COMM_NULL));
    said("no topology", MPI_Neighbor_allgather(out, 1000, MPI_INT, in, 1000, MPI_INT, comm));
    said("negative neighbour", MPI_Neighbor_alltoall(out, -1, MPI_INT, in, -1, MPI_INT, graph));
    said("neighbour of no type", MPI_Neighbor_alltoallw(out, counts, places, none, in, counts, places, types, graph));
#ifdef MPICH_VERSION /* others do not look */
    said("same buffer", MPI_Alltoallv(out, counts, at, MPI_BYTE, out, counts, at, MPI_BYTE, comm));
    said("no buffer", MPI_Alltoallv(NULL, counts, at, MPI_BYTE, in, counts, at, MPI_BYTE, comm));
#endif
    said("good", MPI_Neighbor_allgather(out, 1000, MPI_INT, in, 1000, MPI_INT, graph));
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
    said("request with a negative count",
         MPI_Alltoallw_init(out, negative, at, types, in, counts, at, types, comm, MPI_INFO_NULL, &request));
#endif
  }
  (void)request;
  free(out), free(in);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&comm);
}

static const struct {
  const char* name;
  void (*run)(void);
} parts[] = {{"transpose", transpose}, {"bottom", bottom}, {"nulls", nulls},      {"far", far},
             {"part", part},           {"alone", alone},   {"mistakes", mistakes}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                          argc == 2 && !strcmp(argv[1], "mistakes") ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL);
  for (int a = 1; a < argc; ++a)
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
      if (strcmp(argv[a], parts[i].name) == 0) parts[i].run();
  return report();
}
