/* The library that 'hocket record' preloads: writes down what each rank sends in each collective call,
 * then makes the call. It sends no message of its own. */
#include <mpi.h>
#include <stdlib.h>

#include "record_log.h"

static uint64_t bytes_of(int count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return (uint64_t)count * (uint64_t)size;
}

/* The counts of one call: to each member its own, in place where the receive side tells what is sent. */
typedef struct {
  const int* counts;
  const MPI_Datatype* types;
  int count;
  MPI_Datatype type;
} sizes;

static uint64_t size_at(const sizes* s, int i) {
  return bytes_of(s->counts ? s->counts[i] : s->count, s->types ? s->types[i] : s->type);
}

static void all_to_all(MPI_Comm comm, const char* operation, sizes s) {
  comm_state* state = record_begin(comm, operation);
  if (state == NULL) return;
  row now = {0};
  for (int i = 0; i < state->size; ++i) record_entry(&now, state->world[i], size_at(&s, i));
  record_call(state, operation, &now);
}

/* What a rank contributes goes to all others. `s` has one size, or one per member. */
static void all_gather(MPI_Comm comm, const char* operation, sizes s) {
  comm_state* state = record_begin(comm, operation);
  if (state == NULL) return;
  row now = {0};
  const uint64_t bytes = size_at(&s, state->rank);
  for (int i = 0; i < state->size; ++i)
    if (i != state->rank) record_entry(&now, state->world[i], bytes);
  record_call(state, operation, &now);
}

/* Ranks of the neighbours that this rank sends to, in order; some may be MPI_PROC_NULL. */
static int* destinations(MPI_Comm comm, int rank, int* count) {
  int topology = MPI_UNDEFINED, sources = 0, weighted = 0;
  int* list = NULL;
  *count = 0;
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &sources, count, &weighted);
    const size_t all = (size_t)(sources + *count) + 1;
    list = record_checked(malloc(4 * all * sizeof *list));
    PMPI_Dist_graph_neighbors(comm, sources, list + all, list + 2 * all, *count, list, list + 3 * all);
  } else if (topology == MPI_GRAPH) {
    PMPI_Graph_neighbors_count(comm, rank, count);
    list = record_checked(malloc((size_t)(*count + 1) * sizeof *list));
    PMPI_Graph_neighbors(comm, rank, *count, list);
  } else if (topology == MPI_CART) {
    int dimensions = 0;
    PMPI_Cartdim_get(comm, &dimensions);
    *count = 2 * dimensions;
    list = record_checked(malloc((size_t)(*count + 1) * sizeof *list));
    for (int d = 0; d < dimensions; ++d) PMPI_Cart_shift(comm, d, 1, &list[2 * d], &list[2 * d + 1]);
  }
  return list;
}

static void to_neighbors(MPI_Comm comm, const char* operation, sizes s) {
  comm_state* state = record_begin(comm, operation);
  if (state == NULL) return;
  row now = {0};
  int count = 0;
  int* list = destinations(comm, state->rank, &count);
  for (int i = 0; i < count; ++i)
    if (list[i] >= 0 && list[i] < state->size) record_entry(&now, state->world[list[i]], size_at(&s, i));
  free(list);
  record_call(state, operation, &now);
}

static int in_place(const void* sendbuf) { return sendbuf == MPI_IN_PLACE; }

#pragma GCC visibility push(default)

/* Parameters of each family of calls, what to pass on, and what is sent. */
#define ALLTOALL_ARGUMENTS                                                                                        \
  const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, \
      MPI_Comm comm
#define ALLTOALL_VALUES sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm
#define ALLTOALL_SIZES \
  in_place(sendbuf) ? (sizes){0, 0, recvcount, recvtype} : (sizes) { 0, 0, sendcount, sendtype }

#define ALLTOALLV_ARGUMENTS                                                                               \
  const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, \
      const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm
#define ALLTOALLV_VALUES sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm
#define ALLTOALLV_SIZES \
  in_place(sendbuf) ? (sizes){recvcounts, 0, 0, recvtype} : (sizes) { sendcounts, 0, 0, sendtype }

#define TYPED_ARGUMENTS(displacement)                                                                        \
  const void *sendbuf, const int sendcounts[], const displacement sdispls[], const MPI_Datatype sendtypes[], \
      void *recvbuf, const int recvcounts[], const displacement rdispls[], const MPI_Datatype recvtypes[],   \
      MPI_Comm comm
#define ALLTOALLW_ARGUMENTS TYPED_ARGUMENTS(int)
#define ALLTOALLW_VALUES sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm
#define ALLTOALLW_SIZES in_place(sendbuf) ? (sizes){recvcounts, recvtypes, 0, 0} : (sizes){sendcounts, sendtypes, 0, 0}

#define NEIGHBORW_ARGUMENTS TYPED_ARGUMENTS(MPI_Aint)
#define NEIGHBORW_VALUES ALLTOALLW_VALUES
#define NEIGHBORW_SIZES ALLTOALLW_SIZES

#define ALLGATHERV_ARGUMENTS                                                                        \
  const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], \
      const int displs[], MPI_Datatype recvtype, MPI_Comm comm
#define ALLGATHERV_VALUES sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm
#define ALLGATHERV_SIZES \
  in_place(sendbuf) ? (sizes){recvcounts, 0, 0, recvtype} : (sizes) { 0, 0, sendcount, sendtype }

/* Blocking and nonblocking; the persistent call is counted where it is made, not where it is started. */
#define WRAP(name, lower, kind, recorder)                    \
  int MPI_##name(kind##_ARGUMENTS) {                         \
    recorder(comm, "MPI_" #name, kind##_SIZES);              \
    return PMPI_##name(kind##_VALUES);                       \
  }                                                          \
  int MPI_I##lower(kind##_ARGUMENTS, MPI_Request* request) { \
    recorder(comm, "MPI_I" #lower, kind##_SIZES);            \
    return PMPI_I##lower(kind##_VALUES, request);            \
  }                                                          \
  WRAP_PERSISTENT(name, kind, recorder)
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define WRAP_PERSISTENT(name, kind, recorder)                                    \
  int MPI_##name##_init(kind##_ARGUMENTS, MPI_Info info, MPI_Request* request) { \
    recorder(comm, "MPI_" #name "_init", kind##_SIZES);                          \
    return PMPI_##name##_init(kind##_VALUES, info, request);                     \
  }
#else
#define WRAP_PERSISTENT(name, kind, recorder)
#endif

WRAP(Alltoall, alltoall, ALLTOALL, all_to_all)
WRAP(Alltoallv, alltoallv, ALLTOALLV, all_to_all)
WRAP(Alltoallw, alltoallw, ALLTOALLW, all_to_all)
WRAP(Allgather, allgather, ALLTOALL, all_gather)
WRAP(Allgatherv, allgatherv, ALLGATHERV, all_gather)
WRAP(Neighbor_alltoall, neighbor_alltoall, ALLTOALL, to_neighbors)
WRAP(Neighbor_alltoallv, neighbor_alltoallv, ALLTOALLV, to_neighbors)
WRAP(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBORW, to_neighbors)

int MPI_Finalize(void) {
  record_end();
  return PMPI_Finalize();
}
