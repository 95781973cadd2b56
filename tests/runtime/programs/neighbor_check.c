/* Calls MPI_Neighbor_alltoallv, and both persistent calls, on several topologies and checks every byte.
 * Knows nothing of Hocket. Usage: neighbor_check bytes [what...] ; what: graph edges grid persistent.
 * Prints "ok <checks>" from rank 0, exits 1 on a wrong byte. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

static unsigned char value(int from, int to, int edge, int i, int salt) {
  return (unsigned char)(from * 31 + to * 17 + edge * 5 + i * 7 + (i >> 8) + salt);
}

/* Bytes on the edge-th edge between two ranks. */
static int size_of(int from, int to, int edge, int most) {
  return 1 + (from * 7919 + to * 104729 + edge * 1299709) % most;
}

/* One side of a call: message i goes to, or comes from, peer[i], over the edge[i]-th edge between them. */
typedef struct {
  int n, bytes;
  int *peer, *edge, *counts, *at;
  unsigned char* memory;
} Side;

static int* ints(int n) { return malloc(sizeof(int) * (size_t)n + 1); }

static Side side_of(int rank, const int* peers, int n, int sends, int most) {
  Side s = {n, 0, ints(n), ints(n), ints(n), ints(n), NULL};
  for (int i = 0; i < n; ++i) {
    s.peer[i] = peers[i];
    s.edge[i] = 0;
    for (int j = 0; j < i; ++j) s.edge[i] += peers[j] == peers[i];
    const int from = sends ? rank : peers[i], to = sends ? peers[i] : rank;
    s.counts[i] = peers[i] == MPI_PROC_NULL ? 5 : size_of(from, to, s.edge[i], most);
    s.at[i] = s.bytes;
    s.bytes += s.counts[i];
  }
  s.memory = malloc((size_t)s.bytes + 1);
  return s;
}

static void drop(Side* s) { free(s->peer), free(s->edge), free(s->counts), free(s->at), free(s->memory); }

static void fill(const Side* s, int rank, int salt) {
  for (int m = 0; m < s->n; ++m)
    for (int i = 0; i < s->counts[m]; ++i) s->memory[s->at[m] + i] = value(rank, s->peer[m], s->edge[m], i, salt);
}

static void compare(const Side* s, int rank, int salt) {
  for (int m = 0; m < s->n; ++m)
    for (int i = 0; i < s->counts[m]; ++i)
      check(s->memory[s->at[m] + i] ==
            (s->peer[m] == MPI_PROC_NULL ? 0xAB : value(s->peer[m], rank, s->edge[m], i, salt)));
}

static void exchange(MPI_Comm comm, const int* sources, int in, const int* destinations, int out, int most) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  Side send = side_of(rank, destinations, out, 1, most), receive = side_of(rank, sources, in, 0, most);
  for (int round = 0; round < 3; ++round) {
    memset(receive.memory, 0xAB, (size_t)receive.bytes);
    fill(&send, rank, round);
    MPI_Neighbor_alltoallv(send.memory, send.counts, send.at, MPI_BYTE, receive.memory, receive.counts, receive.at,
                           MPI_BYTE, comm);
    compare(&receive, rank, round);
  }
  drop(&send);
  drop(&receive);
}

/* Everybody sends to the next ranks but the last, which sends nothing; adjacent and not. */
static void graph(int n, int rank, int most) {
  int sources[3], destinations[3], in = 0, out = 0, weights[3] = {3, 2, 1};
  MPI_Comm comm;
  for (int step = 1; step <= 3; ++step) {
    if (rank != n - 1) destinations[out++] = (rank + step) % n;
    if ((rank - step + n) % n != n - 1) sources[in++] = (rank - step + n) % n;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, weights, out, destinations, weights, MPI_INFO_NULL, 0,
                                 &comm);
  exchange(comm, sources, in, destinations, out, most);
  MPI_Comm_free(&comm);
  /* The library orders the neighbours. */
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &out, destinations, weights, MPI_INFO_NULL, 0, &comm);
  int weighted, weights_in[3], weights_out[3];
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  MPI_Dist_graph_neighbors(comm, in, sources, weights_in, out, destinations, weights_out);
  exchange(comm, sources, in, destinations, out, most);
  MPI_Comm_free(&comm);
}

/* Several edges between the same two ranks, and some to oneself, mixed up. */
static void edges(int n, int rank, int most) {
  const int next = (rank + 1) % n, before = (rank + n - 1) % n, over = (rank + 2) % n, under = (rank + n - 2) % n;
  const int weights[] = {1, 1, 1, 1, 1, 1};
  const int destinations[] = {next, rank, over, next, rank, next},
            sources[] = {before, under, rank, before, before, rank};
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 6, sources, weights, 6, destinations, weights, MPI_INFO_NULL, 0,
                                 &comm);
  exchange(comm, sources, 6, destinations, 6, most);
  MPI_Comm_free(&comm);
}

/* Neighbours that do not exist; and a ring of two, where one neighbour is both. */
static void grid(int n, int most) {
  int dims[2] = {0, 0}, rank, neighbours[4];
  MPI_Comm comm, pairs;
  MPI_Dims_create(n, 2, dims);
  const int rings[2] = {0, dims[1] > 2};
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, rings, 0, &comm);
  for (int d = 0; d < 2; ++d) MPI_Cart_shift(comm, d, 1, &neighbours[2 * d], &neighbours[2 * d + 1]);
  exchange(comm, neighbours, 4, neighbours, 4, most);
  MPI_Comm_free(&comm);
  /* Which of two equal messages arrives where is the library's affair: all bytes of a sender are the same. */
  const int two[2] = {2, n / 2}, all[2] = {1, 1};
  if (n % 2) return;
  MPI_Cart_create(MPI_COMM_WORLD, 2, two, all, 0, &pairs);
  MPI_Comm_rank(pairs, &rank);
  for (int d = 0; d < 2; ++d) MPI_Cart_shift(pairs, d, 1, &neighbours[2 * d], &neighbours[2 * d + 1]);
  unsigned char *out = malloc((size_t)most), *in = malloc(4 * (size_t)most);
  memset(out, rank, (size_t)most);
  const int counts[4] = {most, most, most, most}, from[4] = {0, 0, 0, 0}, to[4] = {0, most, 2 * most, 3 * most};
  MPI_Neighbor_alltoallv(out, counts, from, MPI_BYTE, in, counts, to, MPI_BYTE, pairs);
  for (int m = 0; m < 4; ++m)
    for (int i = 0; i < most; ++i) check(in[m * most + i] == (unsigned char)neighbours[m]);
  free(out), free(in);
  MPI_Comm_free(&pairs);
}

#if MPI_VERSION >= 4
/* Two requests of each kind at once; arrays and datatypes are gone when they start. */
static void persistent(int n, int rank, int most) {
  int* all = ints(n);
  const int weights[2] = {1, 1};
  const int next[2] = {(rank + 1) % n, (rank + 2) % n}, before[2] = {(rank + n - 1) % n, (rank + n - 2) % n};
  for (int i = 0; i < n; ++i) all[i] = i;
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, before, weights, 2, next, weights, MPI_INFO_NULL, 0, &comm);
  Side send[4], receive[4];
  MPI_Request requests[4];
  for (int k = 0; k < 4; ++k) {
    MPI_Datatype byte;
    MPI_Type_contiguous(1, MPI_BYTE, &byte);
    MPI_Type_commit(&byte);
    send[k] = k < 2 ? side_of(rank, all, n, 1, most) : side_of(rank, next, 2, 1, most);
    receive[k] = k < 2 ? side_of(rank, all, n, 0, most) : side_of(rank, before, 2, 0, most);
    Side s = side_of(rank, send[k].peer, send[k].n, 1, most), r = side_of(rank, receive[k].peer, receive[k].n, 0, most);
    (k < 2 ? MPI_Alltoallv_init : MPI_Neighbor_alltoallv_init)(send[k].memory, s.counts, s.at, byte, receive[k].memory,
                                                               r.counts, r.at, MPI_BYTE, k < 2 ? MPI_COMM_WORLD : comm,
                                                               MPI_INFO_NULL, &requests[k]);
    memset(s.counts, 0, sizeof(int) * (size_t)s.n), memset(r.counts, 0, sizeof(int) * (size_t)r.n);
    drop(&s), drop(&r);
    MPI_Type_free(&byte);
  }
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 4; ++k) fill(&send[k], rank, round + k);
    MPI_Startall(4, requests);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 4; ++k) compare(&receive[k], rank, round + k);
  }
  for (int k = 0; k < 4; ++k) {
    MPI_Request_free(&requests[k]);
    drop(&send[k]), drop(&receive[k]);
  }
  free(all);
  MPI_Comm_free(&comm);
}
#else
static void persistent(int n, int rank, int most) { (void)n, (void)rank, (void)most; }
#endif

static int wanted(int argc, char** argv, const char* what) {
  int found = argc == 2;
  for (int a = 2; a < argc; ++a) found |= strcmp(argv[a], what) == 0;
  return found;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, n;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const int most = atoi(argv[1]);
  if (wanted(argc, argv, "graph")) graph(n, rank, most);
  if (wanted(argc, argv, "edges")) edges(n, rank, most);
  if (wanted(argc, argv, "grid")) grid(n, most);
  if (wanted(argc, argv, "persistent")) persistent(n, rank, most);
  return report();
}
