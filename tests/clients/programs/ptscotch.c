/* PT-Scotch: a grid graph is spread over the ranks, its halo exchanged, divided into parts and moved to them.
 * Everything that can be known is checked; prints hashes of what is the same in every run (the partition is not). */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* Its header wants stdio.h and mpi.h before it. */
#include <ptscotch.h>

enum { SIDE = 24, VERTICES = SIDE * SIDE * SIDE, MOST_EDGES = 6 };

static int rank, ranks;

static void check(int failed, const char* what) {
  if (!failed) return;
  fprintf(stderr, "rank %d: %s failed\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static uint64_t hash_of(const SCOTCH_Num* values, SCOTCH_Num count) {
  uint64_t hash = 1469598103934665603u;
  for (SCOTCH_Num i = 0; i < count; ++i) hash = (hash ^ (uint64_t)values[i]) * 1099511628211u;
  return hash * (2 * (uint64_t)rank + 1);
}

static void print_hash(const char* what, uint64_t mine) {
  uint64_t all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s %016llx\n", what, (unsigned long long)all);
}

static SCOTCH_Num first_of(int r) { return (SCOTCH_Num)((int64_t)VERTICES * r / ranks); }

/* The neighbours of a vertex of the grid; returns how many. */
static SCOTCH_Num neighbours(SCOTCH_Num vertex, SCOTCH_Num* to) {
  static const SCOTCH_Num step[] = {1, SIDE, SIDE * SIDE};
  SCOTCH_Num found = 0;
  for (int d = 0; d < 3; ++d) {
    const SCOTCH_Num at = vertex / step[d] % SIDE;
    if (at > 0) to[found++] = vertex - step[d];
    if (at < SIDE - 1) to[found++] = vertex + step[d];
  }
  return found;
}

/* Every vertex sends ten times its number; ghosts follow the own ones in the order of their numbers. */
static void exchange_halo(SCOTCH_Dgraph* graph, SCOTCH_Num first, SCOTCH_Num own) {
  SCOTCH_Num with_ghosts = 0;
  check(SCOTCH_dgraphGhst(graph), "ghosts");
  SCOTCH_dgraphData(graph, NULL, NULL, NULL, NULL, &with_ghosts, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                    NULL, NULL);
  SCOTCH_Num* values = calloc((size_t)with_ghosts, sizeof *values);
  for (int round = 0; round < 3; ++round) {
    for (SCOTCH_Num v = 0; v < with_ghosts; ++v) values[v] = v < own ? 10 * (first + v) + round : -1;
    check(SCOTCH_dgraphHalo(graph, values, SCOTCH_numSizeof() == 8 ? MPI_INT64_T : MPI_INT), "halo");
    for (SCOTCH_Num v = own; v < with_ghosts; ++v) check(values[v] % 10 != round, "a value of the halo");
    print_hash("halo", hash_of(values, with_ghosts));
  }
  free(values);
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const SCOTCH_Num first = first_of(rank), own = first_of(rank + 1) - first;
  SCOTCH_Num *begins = malloc(((size_t)own + 1) * sizeof *begins),
             *edges = malloc((size_t)own * MOST_EDGES * sizeof *edges);
  begins[0] = 0;
  for (SCOTCH_Num v = 0; v < own; ++v) begins[v + 1] = begins[v] + neighbours(first + v, edges + begins[v]);

  SCOTCH_Dgraph graph;
  check(SCOTCH_dgraphInit(&graph, MPI_COMM_WORLD), "init");
  check(SCOTCH_dgraphBuild(&graph, 0, own, own, begins, begins + 1, NULL, NULL, begins[own], begins[own], edges, NULL,
                           NULL),
        "build");
  check(SCOTCH_dgraphCheck(&graph), "graph");
  exchange_halo(&graph, first, own);

  /* A part for each rank: slabs across the numbering, so that almost every vertex moves. */
  SCOTCH_Num* part = malloc((size_t)own * sizeof *part);
  for (SCOTCH_Num v = 0; v < own; ++v) part[v] = (first + v) % SIDE * ranks / SIDE;
  SCOTCH_Dgraph moved;
  check(SCOTCH_dgraphInit(&moved, MPI_COMM_WORLD), "init");
  check(SCOTCH_dgraphRedist(&graph, part, NULL, -1, -1, &moved), "redistribution");
  check(SCOTCH_dgraphCheck(&moved), "redistributed graph");
  SCOTCH_Num vertices = 0, local = 0;
  SCOTCH_dgraphSize(&moved, &vertices, &local, NULL, NULL);
  check(vertices != VERTICES, "number of vertices");
  SCOTCH_Num *at, *end, *labels, *to;
  SCOTCH_dgraphData(&moved, NULL, NULL, &local, NULL, NULL, &at, &end, NULL, &labels, NULL, NULL, NULL, &to, NULL, NULL,
                    NULL);
  print_hash("labels", hash_of(labels, local));
  print_hash("edges", hash_of(to, at[local]));

  SCOTCH_Strat strategy;
  check(SCOTCH_stratInit(&strategy), "strategy");
  check(SCOTCH_dgraphPart(&graph, 8, &strategy, part), "partition");
  for (SCOTCH_Num v = 0; v < own; ++v) check(part[v] < 0 || part[v] >= 8, "a part's number");
  SCOTCH_stratExit(&strategy);
  SCOTCH_dgraphExit(&moved);
  SCOTCH_dgraphExit(&graph);
  free(part);
  free(edges);
  free(begins);
  MPI_Finalize();
  return 0;
}
