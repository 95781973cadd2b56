/* Communicators of the grid of calls, and who is whose neighbour. */
#ifndef GRID_GROUPS_H
#define GRID_GROUPS_H
#include <mpi.h>

#include "grid_sides.h"

static int world_rank, world_ranks; /* of `base` */
static inline int after(int step) { return (world_rank + step + world_ranks) % world_ranks; }

static inline MPI_Comm made(enum group group) {
  MPI_Comm comm = MPI_COMM_NULL, part;
  const int n = world_ranks, weights[6] = {3, 2, 1, 4, 6, 5};
  const int to[6] = {after(1), world_rank, after(2), after(1), world_rank, after(1)};
  const int from[6] = {after(-1), after(-2), world_rank, after(-1), after(-1), world_rank};
  const int upper = world_rank >= n / 2, pair[2] = {2, n / 2}, rings[2] = {1, 1};
  int dims[2] = {0, 0}, index[MOST], around[2 * MOST], ins = 0, outs = 0, sources[3], destinations[3];
  switch (group) {
    case world:
    case self:
      return group == world ? base : MPI_COMM_SELF;
    case half:
      MPI_Comm_split(base, world_rank % 2, -world_rank, &comm);
      break;
    case reverse:
      MPI_Comm_split(base, 0, -world_rank, &comm);
      break;
    case copy:
      MPI_Comm_dup(base, &comm);
      break;
    case most:
      MPI_Comm_split(base, world_rank % 4 == 3, world_rank, &comm);
      break;
    case inter:
      MPI_Comm_split(base, upper, world_rank, &part);
      MPI_Intercomm_create(part, 0, base, upper ? 0 : n / 2, 5, &comm);
      MPI_Comm_free(&part);
      break;
    case edges: /* several between two ranks, and to oneself, mixed up */
      MPI_Dist_graph_create_adjacent(base, 6, from, weights, 6, to, weights, MPI_INFO_NULL, 0, &comm);
      break;
    case ring:
      for (int i = 0; i < n; ++i)
        index[i] = 2 * (i + 1), around[2 * i] = (i + 1) % n, around[2 * i + 1] = (i + n - 1) % n;
      MPI_Graph_create(base, n, index, around, 0, &comm);
      break;
    case grid: /* ends have neighbours that do not exist; of a mesh in both directions */
    case mesh: {
      MPI_Dims_create(n, 2, dims);
      const int periods[2] = {group == grid && dims[0] > 2, 0};
      MPI_Cart_create(base, 2, dims, periods, group == grid, &comm);
      break;
    }
    case pairs: /* a ring of two, where one neighbour is both: the library may exchange its messages */
      MPI_Cart_create(base, 2, pair, rings, 0, &comm);
      break;
    default: /* to the next three ranks, but from the last to nobody; the library may order neighbours */
      for (int step = 1; step <= 3; ++step) {
        if (world_rank != n - 1) destinations[outs++] = after(step);
        if (after(-step) != n - 1) sources[ins++] = after(-step);
      }
      if (group == graph)
        MPI_Dist_graph_create_adjacent(base, ins, sources, weights, outs, destinations, weights, MPI_INFO_NULL, 0,
                                       &comm);
      else
        MPI_Dist_graph_create(base, 1, &world_rank, &outs, destinations, weights, MPI_INFO_NULL, 1, &comm);
  }
  return comm;
}

/* Peers of this rank, in the order of its blocks; their number. */
static inline int peers_of(MPI_Comm comm, int sends, int* peers) {
  int between, kind, n, ins, outs, weighted, other[MOST], weights[2][MOST];
  MPI_Comm_test_inter(comm, &between);
  if (between) {
    MPI_Comm_remote_size(comm, &n);
    for (int i = 0; i < n; ++i) peers[i] = i + (world_rank >= world_ranks / 2 ? 0 : world_ranks / 2);
    return n;
  }
  MPI_Topo_test(comm, &kind);
  int rank;
  MPI_Comm_rank(comm, &rank);
  switch (kind) {
    case MPI_DIST_GRAPH:
      MPI_Dist_graph_neighbors_count(comm, &ins, &outs, &weighted);
      MPI_Dist_graph_neighbors(comm, ins, sends ? other : peers, weights[0], outs, sends ? peers : other, weights[1]);
      return sends ? outs : ins;
    case MPI_GRAPH:
      MPI_Graph_neighbors_count(comm, rank, &n);
      MPI_Graph_neighbors(comm, rank, n, peers);
      return n;
    case MPI_CART:
      MPI_Cartdim_get(comm, &n);
      for (int d = 0; d < n; ++d) MPI_Cart_shift(comm, d, 1, &peers[2 * d], &peers[2 * d + 1]);
      return 2 * n;
    default:
      MPI_Comm_size(comm, &n);
      for (int i = 0; i < n; ++i) peers[i] = i;
      return n;
  }
}

static inline int exists(enum group group) {
  const int least = group == edges || group == ring       ? 3
                    : group == graph || group == arranged ? 4
                    : group == inter                      ? 2
                                                          : 1;
  return world_ranks >= least && (group != pairs || (world_ranks % 2 == 0 && world_ranks > 3));
}

#endif
