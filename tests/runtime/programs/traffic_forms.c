/* Every collective call that 'hocket record' knows, in each of its forms, on 4 ranks. */
#include <mpi.h>
#include <stddef.h>

enum { RANKS = 4 };
static char from[4096], to[4096];
static MPI_Request request;

static void over(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }
static void twice(void) {
  MPI_Start(&request);
  over();
  MPI_Start(&request);
  over();
  MPI_Request_free(&request);
}

#define WITH(...) __VA_ARGS__
/* Name, name and all arguments but the last ones of the nonblocking and persistent forms. */
#define FORMS(Name, name, suffix, arguments)             \
  MPI_##Name##suffix(WITH arguments);                    \
  MPI_I##name##suffix(WITH arguments, &request), over(); \
  MPI_##Name##_init##suffix(WITH arguments, MPI_INFO_NULL, &request), twice()

/* Characters, to rank or neighbour i: `out[i]` of them; shorts where each message has a type. */
#define ALL_TO_ALLS(Prefix, prefix, suffix, count, place, place_of_types)                                             \
  do {                                                                                                                \
    count sent[RANKS], got[RANKS];                                                                                    \
    place at[RANKS];                                                                                                  \
    place_of_types bytes_at[RANKS];                                                                                   \
    for (int i = 0; i < RANKS; ++i) sent[i] = out[i], got[i] = in[i], at[i] = bytes_at[i] = 512 * i;                  \
    FORMS(Prefix##lltoall, prefix##lltoall, suffix, (from, 3, MPI_CHAR, to, 3, MPI_CHAR, comm));                      \
    FORMS(Prefix##lltoallv, prefix##lltoallv, suffix, (from, sent, at, MPI_CHAR, to, got, at, MPI_CHAR, comm));       \
    FORMS(Prefix##lltoallw, prefix##lltoallw, suffix, (from, sent, bytes_at, types, to, got, bytes_at, types, comm)); \
  } while (0)

/* Rank i contributes 5 characters, or i + 1. */
#define ALL_GATHERS(Prefix, prefix, suffix, count, place)                                                         \
  do {                                                                                                            \
    count got[RANKS];                                                                                             \
    place at[RANKS];                                                                                              \
    for (int i = 0; i < RANKS; ++i) got[i] = sources[i] + 1, at[i] = 512 * i;                                     \
    FORMS(Prefix##llgather, prefix##llgather, suffix, (from, 5, MPI_CHAR, to, 5, MPI_CHAR, comm));                \
    FORMS(Prefix##llgatherv, prefix##llgatherv, suffix, (from, rank + 1, MPI_CHAR, to, got, at, MPI_CHAR, comm)); \
  } while (0)

/* Characters: from rank 1, for rank 2, of each rank's sum, of the sum of all. */
#define VECTORS(suffix, count)                                                                                \
  do {                                                                                                        \
    count blocks[RANKS];                                                                                      \
    for (int i = 0; i < RANKS; ++i) blocks[i] = i + 1;                                                        \
    FORMS(Bcast, bcast, suffix, (to, 8, MPI_CHAR, 1, comm));                                                  \
    FORMS(Reduce, reduce, suffix, (from, to, 6, MPI_SIGNED_CHAR, MPI_MAX, 2, comm));                          \
    FORMS(Reduce_scatter_block, reduce_scatter_block, suffix, (from, to, 3, MPI_SIGNED_CHAR, MPI_MAX, comm)); \
    FORMS(Reduce_scatter, reduce_scatter, suffix, (from, to, blocks, MPI_SIGNED_CHAR, MPI_MAX, comm));        \
    FORMS(Allreduce, allreduce, suffix, (from, to, 7, MPI_SIGNED_CHAR, MPI_MAX, comm));                       \
  } while (0)

int main(int argc, char** argv) {
  int rank = 0, out[RANKS], in[RANKS], sources[RANKS] = {0, 1, 2, 3};
  MPI_Datatype types[RANKS] = {MPI_SHORT, MPI_SHORT, MPI_SHORT, MPI_SHORT};
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < RANKS; ++i) out[i] = 10 * rank + i, in[i] = 10 * i + rank;
  ALL_TO_ALLS(A, a, , int, int, int);
  ALL_GATHERS(A, a, , int, int);
  VECTORS(, int);
#if MPI_VERSION >= 4
  ALL_TO_ALLS(A, a, _c, MPI_Count, MPI_Aint, MPI_Aint);
  ALL_GATHERS(A, a, _c, MPI_Count, MPI_Aint);
  VECTORS(_c, MPI_Count);
#endif

  /* Two rows of two: both neighbours of a column are the same rank, and a row has ends. */
  const int sides[2] = {2, 2}, periodic[2] = {1, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periodic, 0, &comm);
  for (int d = 0; d < 2; ++d) MPI_Cart_shift(comm, d, 1, &sources[2 * d], &sources[2 * d + 1]);
  out[0] = out[1] = 2, out[2] = 3, out[3] = 4;
  in[0] = in[1] = 2, in[2] = 4, in[3] = 3;
  for (int i = 0; i < RANKS; ++i) sources[i] = sources[i] < 0 ? 0 : sources[i];
  ALL_TO_ALLS(Neighbor_a, neighbor_a, , int, int, MPI_Aint);
  ALL_GATHERS(Neighbor_a, neighbor_a, , int, int);
#if MPI_VERSION >= 4
  ALL_TO_ALLS(Neighbor_a, neighbor_a, _c, MPI_Count, MPI_Aint, MPI_Aint);
  ALL_GATHERS(Neighbor_a, neighbor_a, _c, MPI_Count, MPI_Aint);
#endif
  MPI_Comm_free(&comm);

  /* A ring as a graph. */
  const int ends[RANKS] = {2, 4, 6, 8}, edges[2 * RANKS] = {1, 3, 2, 0, 3, 1, 0, 2};
  MPI_Graph_create(MPI_COMM_WORLD, RANKS, ends, edges, 0, &comm);
  MPI_Neighbor_alltoall(from, 7, MPI_CHAR, to, 7, MPI_CHAR, comm);
  MPI_Comm_free(&comm);
  return MPI_Finalize();
}
