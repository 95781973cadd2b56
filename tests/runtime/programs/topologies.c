/* Topologies of every kind, whose ranks may be reordered: neighbours, halo exchanges, and what a new communicator has.
 * Rank 0 prints of each how many ranks have moved, and facts that do not depend on that. "not": none may be reordered.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

enum { BYTES = 3000, MOST = 8 };

static int own, ranks, reorder;
static MPI_Comm base;
static MPI_Errhandler handler;
static int key, last; /* last: what the error handler has heard */

static int copied(MPI_Comm comm, int which, void* extra, void* from, void* to, int* flag) {
  (void)comm, (void)which, (void)extra;
  *(void**)to = from;
  return *flag = 1, MPI_SUCCESS;
}

static void heard(MPI_Comm* comm, int* code, ...) {
  int same;
  MPI_Comm_compare(*comm, base, &same);
  check(same == MPI_IDENT);
  last = *code;
}

static int has_failed(int code) {
  const int heard_of = last;
  last = MPI_SUCCESS;
  return code != MPI_SUCCESS || heard_of != MPI_SUCCESS;
}

/* What a message from the i-th place of a rank's list is filled with. */
static char mark(int rank, int i) { return (char)(rank * 16 + i + 1); }

/* Each rank sends the i-th neighbour a message of its own; `in[i]`: from whom, and for which place in their lists. */
static void exchange(MPI_Comm comm, int outs, int ins, const int in[][2]) {
  static char send[MOST * BYTES], receive[MOST * BYTES];
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < outs; ++i) memset(send + i * BYTES, mark(rank, i), BYTES);
  memset(receive, 0, sizeof receive);
  for (int turn = 0; turn < 2; ++turn)
    check(MPI_Neighbor_alltoall(send, BYTES, MPI_CHAR, receive, BYTES, MPI_CHAR, comm) == MPI_SUCCESS);
  for (int i = 0; i < ins; ++i) {
    const char wanted = in[i][0] == MPI_PROC_NULL ? 0 : mark(in[i][0], in[i][1]);
    check(receive[i * BYTES] == wanted && receive[i * BYTES + BYTES - 1] == wanted);
  }
}

/* Prints the facts and frees the communicator. */
static void tell(const char* what, int code, MPI_Comm comm) {
  int class = MPI_SUCCESS, rank = own, name = -1, found = 0, keys = 0, status = 0, all = 0, inherited = 0;
  MPI_Error_class(last, &class);
  check(has_failed(code) == (class != MPI_SUCCESS));
  if (comm != MPI_COMM_NULL) {
    char text[MPI_MAX_OBJECT_NAME];
    void* value;
    MPI_Errhandler of_comm;
    MPI_Info info;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &all);
    MPI_Topo_test(comm, &status);
    MPI_Comm_get_name(comm, text, &name);
    MPI_Comm_get_attr(comm, key, &value, &found);
    MPI_Comm_get_errhandler(comm, &of_comm);
    inherited = of_comm == handler;
    MPI_Errhandler_free(&of_comm);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_nkeys(info, &keys);
    MPI_Info_free(&info);
  }
  int mine[2] = {rank != own, comm != MPI_COMM_NULL}, sums[2];
  MPI_Allreduce(mine, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (own == 0) {
    printf("moved %s: %d\n", what, sums[0]);
    printf("%s: class %d members %d size %d topology %d name %d attribute %d keys %d handler %d\n", what, class,
           sums[1], all,
           status == MPI_CART         ? 1
           : status == MPI_GRAPH      ? 2
           : status == MPI_DIST_GRAPH ? 3
                                      : 0,
           name, found, keys, inherited);
  }
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

static void cart(const char* what, int dimensions, const int* sides, const int* periods) {
  MPI_Comm comm = MPI_COMM_NULL;
  const int code = MPI_Cart_create(base, dimensions, sides, periods, reorder, &comm);
  if (comm != MPI_COMM_NULL && dimensions > 0) {
    int rank, in[MOST][2], place[2] = {0, 0}, kept[2], length[2], around[2], same;
    MPI_Comm_rank(comm, &rank);
    MPI_Cart_get(comm, dimensions, length, around, kept);
    MPI_Cart_coords(comm, rank, dimensions, place);
    check(memcmp(place, kept, (size_t)dimensions * sizeof *place) == 0);
    for (int d = 0; d < dimensions; ++d) check(length[d] == sides[d] && around[d] == periods[d]);
    check(rank == (dimensions == 1 ? place[0] : place[0] * sides[1] + place[1]));
    MPI_Cart_rank(comm, place, &same);
    check(same == rank);
    for (int d = 0; d < dimensions; ++d) {
      MPI_Cart_shift(comm, d, 1, &in[2 * d][0], &in[2 * d + 1][0]);
      in[2 * d][1] = 2 * d + 1, in[2 * d + 1][1] = 2 * d;
    }
    exchange(comm, 2 * dimensions, 2 * dimensions, in);
  }
  tell(what, code, comm);
}

/* A ring: the neighbour before, and the one after. */
static void graph(const char* what, int nodes) {
  int index[64], edges[128], count, in[2][2], rank;
  for (int i = 0; i < nodes; ++i) {
    index[i] = 2 * i + 2;
    edges[2 * i] = (i + nodes - 1) % nodes;
    edges[2 * i + 1] = (i + 1) % nodes;
  }
  MPI_Comm comm = MPI_COMM_NULL;
  const int code = MPI_Graph_create(base, nodes, index, edges, reorder, &comm);
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_rank(comm, &rank);
    MPI_Graph_neighbors_count(comm, rank, &count);
    check(count == 2);
    for (int i = 0; i < 2; ++i) in[i][0] = edges[2 * rank + i], in[i][1] = 1 - i;
    exchange(comm, 2, 2, in);
  }
  tell(what, code, comm);
}

enum weights { NONE, SOME };

/* Of each rank below `nodes` two edges to the next, one to itself, one to the third; others have none. */
static void adjacent(const char* what, enum weights weights, int nodes) {
  const int none = own >= nodes ? 0 : 4, steps[4] = {1, 1, 0, 3}, heavy[4] = {5, 1, 7, 2};
  int from[4], to[4], heavy_in[4], heavy_out[4];
  for (int i = 0; i < 4; ++i) {
    from[i] = (own + nodes - steps[i]) % nodes;
    to[i] = (own + steps[i]) % nodes;
    heavy_in[i] = heavy[i] + from[i], heavy_out[i] = heavy[i] + own;
  }
  MPI_Comm comm = MPI_COMM_NULL;
  const int code = MPI_Dist_graph_create_adjacent(base, none, from,
                                                  weights == NONE ? MPI_UNWEIGHTED
                                                  : none == 0     ? MPI_WEIGHTS_EMPTY
                                                                  : heavy_in,
                                                  none, to,
                                                  weights == NONE ? MPI_UNWEIGHTED
                                                  : none == 0     ? MPI_WEIGHTS_EMPTY
                                                                  : heavy_out,
                                                  MPI_INFO_NULL, reorder, &comm);
  check(code == MPI_SUCCESS);
  int rank, ins, outs, weighted, sources[4], destinations[4], in_weights[4], out_weights[4], in[4][2];
  MPI_Comm_rank(comm, &rank);
  MPI_Dist_graph_neighbors_count(comm, &ins, &outs, &weighted);
  check(ins == (rank < nodes ? 4 : 0) && outs == ins && (weighted != 0) == (weights == SOME));
  MPI_Dist_graph_neighbors(comm, ins, sources, weighted ? in_weights : MPI_UNWEIGHTED, outs, destinations,
                           weighted ? out_weights : MPI_UNWEIGHTED);
  for (int i = 0; i < ins; ++i) {
    check(sources[i] == (rank + nodes - steps[i]) % nodes && destinations[i] == (rank + steps[i]) % nodes);
    if (weighted) check(in_weights[i] == heavy[i] + sources[i] && out_weights[i] == heavy[i] + rank);
    in[i][0] = sources[i], in[i][1] = i;
  }
  exchange(comm, outs, ins, in);
  tell(what, code, comm);
}

/* Each rank says what the next one sends: to the second and to the fifth after itself. */
static void distributed(const char* what, enum weights weights) {
  const int source = (own + 1) % ranks, degree = 2;
  const int to[2] = {(source + 1) % ranks, (source + 4) % ranks}, heavy[2] = {9, 4};
  MPI_Comm comm = MPI_COMM_NULL;
  const int code = MPI_Dist_graph_create(base, 1, &source, &degree, to, weights == NONE ? MPI_UNWEIGHTED : heavy,
                                         MPI_INFO_NULL, reorder, &comm);
  check(code == MPI_SUCCESS);
  int rank, ins, outs, weighted, sources[2], destinations[2], in_weights[2] = {1, 1}, out_weights[2] = {1, 1};
  MPI_Comm_rank(comm, &rank);
  MPI_Dist_graph_neighbors_count(comm, &ins, &outs, &weighted);
  check(ins == 2 && outs == 2 && (weighted != 0) == (weights == SOME));
  MPI_Dist_graph_neighbors(comm, 2, sources, weighted ? in_weights : MPI_UNWEIGHTED, 2, destinations,
                           weighted ? out_weights : MPI_UNWEIGHTED);
  for (int i = 0; i < 2; ++i) {
    const int far = destinations[i] == (rank + 4) % ranks, came_far = sources[i] == (rank + ranks - 4) % ranks;
    check(far || destinations[i] == (rank + 1) % ranks);
    check(came_far || sources[i] == (rank + ranks - 1) % ranks);
    if (weighted) check(out_weights[i] == heavy[far] && in_weights[i] == heavy[came_far]);
  }
  check(destinations[0] != destinations[1] && sources[0] != sources[1]);
  char send[2] = {(char)destinations[0], (char)destinations[1]}, receive[2];
  check(MPI_Neighbor_alltoall(send, 1, MPI_CHAR, receive, 1, MPI_CHAR, comm) == MPI_SUCCESS);
  check(receive[0] == rank && receive[1] == rank);
  tell(what, code, comm);
}

/* One rank alone makes an error that its library finds at once: others are not called. */
static void alone_wrong(void) {
  MPI_Comm comm = MPI_COMM_NULL;
  const int too_many[2] = {ranks, 2}, no[2] = {0, 0};
  if (own == 0) {
    check(has_failed(MPI_Cart_create(base, 2, too_many, no, reorder, &comm)));
    check(has_failed(MPI_Cart_create(base, -1, too_many, no, reorder, &comm)));
    check(has_failed(MPI_Graph_create(base, ranks + 1, too_many, no, reorder, &comm)));
    check(has_failed(MPI_Dist_graph_create(base, -1, no, no, no, no, MPI_INFO_NULL, reorder, &comm)));
  }
  check(comm == MPI_COMM_NULL);
  MPI_Comm half, both;
  MPI_Comm_split(base, own % 2, own, &half);
  MPI_Intercomm_create(half, 0, base, (own + 1) % 2, 0, &both);
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* Open MPI calls that one, or the other */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  check(MPI_Cart_create(both, 1, &ranks, no, reorder, &comm) != MPI_SUCCESS);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  reorder = argc < 2 || strcmp(argv[1], "not") != 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &base);
  MPI_Comm_set_name(base, "base");
  MPI_Comm_create_errhandler(heard, &handler);
  MPI_Comm_set_errhandler(base, handler);
  MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(base, key, &key);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Comm_set_info(base, info);
  MPI_Info_free(&info);

  const int around[2] = {1, 1}, open[2] = {0, 0}, mixed[2] = {1, 0};
  cart("ring", 1, &ranks, around);
  cart("line", 1, &ranks, open);
  cart("grid", 2, (int[]){ranks / 2, 2}, mixed);
  cart("torus", 2, (int[]){1, ranks}, around);
  cart("fewer", 1, (int[]){ranks - 2}, around);
  cart("none", 0, &ranks, open);
  cart("large", 1, (int[]){ranks + 1}, open);
  graph("graph", ranks);
  graph("fewer nodes", ranks - 2);
  adjacent("adjacent", NONE, ranks);
  adjacent("weighted", SOME, ranks);
  adjacent("some alone", SOME, ranks - 2);
  distributed("distributed", NONE);
  distributed("distributed, weighted", SOME);
  alone_wrong();
  MPI_Comm_free(&base);
  MPI_Errhandler_free(&handler);
  return report();
}
