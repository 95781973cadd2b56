/* MPI's collective exchanges in one table: what each has, and how it is made in every form, with counts of either
 * width. Knows nothing of Hocket. */
#ifndef CALLS_H
#define CALLS_H
#include <mpi.h>

#define LARGE_COUNTS (MPI_VERSION >= 4)
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define PERSISTENT_COLLECTIVES 1
#else
#define PERSISTENT_COLLECTIVES 0
#endif

#define FLAGS_OF(name, flags) flags,
#define WORD_OF(name, ...) #name,
#define NUMBER_OF(name, ...) name,

/* What a call has: counts for each (of SENDS, of RECEIVES), types for each, an operation, a root, one buffer. */
enum { SENDS = 1, RECEIVES = 2, TYPES = 4, OPERATION = 8, ROOTED = 16, ONE_BUFFER = 32, NEIGHBOURS = 64, SAME = 128 };
#define CALLS(X)                                       \
  X(alltoall, 0)                                       \
  X(allgather, SAME)                                   \
  X(allgatherv, RECEIVES | SAME)                       \
  X(bcast, ROOTED | ONE_BUFFER)                        \
  X(reduce, OPERATION | ROOTED)                        \
  X(allreduce, OPERATION)                              \
  X(reduce_scatter_block, OPERATION)                   \
  X(reduce_scatter, OPERATION | RECEIVES)              \
  X(gather, ROOTED | SAME)                             \
  X(scatter, ROOTED)                                   \
  X(alltoallv, SENDS | RECEIVES)                       \
  X(alltoallw, SENDS | RECEIVES | TYPES)               \
  X(gatherv, ROOTED | RECEIVES | SAME)                 \
  X(scatterv, ROOTED | SENDS)                          \
  X(neighbor_allgather, NEIGHBOURS | SAME)             \
  X(neighbor_allgatherv, NEIGHBOURS | RECEIVES | SAME) \
  X(neighbor_alltoall, NEIGHBOURS)                     \
  X(neighbor_alltoallv, NEIGHBOURS | SENDS | RECEIVES) \
  X(neighbor_alltoallw, NEIGHBOURS | SENDS | RECEIVES | TYPES)
enum call { CALLS(NUMBER_OF) ALL_CALLS };
static const char* const call_names[] = {CALLS(WORD_OF)};
static const int flags_of[] = {CALLS(FLAGS_OF)};

static inline int is(enum call call, int flag) { return (flags_of[call] & flag) != 0; }

#define FORMS(X) X(blocking) X(nonblocking) X(persistent)
enum form { FORMS(NUMBER_OF) ALL_FORMS };
static const char* const form_names[] = {FORMS(WORD_OF)};

/* Arguments of any call. Those of all peers lie in arrays, of which calls without take the first. `far`: displacements
 * of neighbor_alltoallw, and of calls with large counts; `large`: their counts. */
struct argument_side {
  void* buffer;
  int *counts, *places;
  MPI_Aint* far;
  MPI_Count* large;
  MPI_Datatype* types;
};
struct arguments {
  struct argument_side send, receive;
  MPI_Op op;
  int root;
};

#if PERSISTENT_COLLECTIVES
#define MAKE(Name, suffix, ...) MPI_##Name##_init##suffix(__VA_ARGS__, comm, MPI_INFO_NULL, request)
#else
#define MAKE(Name, suffix, ...) MPI_ERR_OTHER
#endif
#define CALL(Name, name, suffix, ...)                                                \
  case name:                                                                         \
    if (form == blocking) return MPI_##Name##suffix(__VA_ARGS__, comm);              \
    if (form == nonblocking) return MPI_I##name##suffix(__VA_ARGS__, comm, request); \
    return MAKE(Name, suffix, __VA_ARGS__);
#define OUT(counts) a->send.buffer, a->send.counts[0], a->send.types[0]
#define IN(counts) a->receive.buffer, a->receive.counts[0], a->receive.types[0]
#define OUT_EACH(counts, places) a->send.buffer, a->send.counts, a->send.places, a->send.types[0]
#define IN_EACH(counts, places) a->receive.buffer, a->receive.counts, a->receive.places, a->receive.types[0]
#define OUT_TYPED(counts, places) a->send.buffer, a->send.counts, a->send.places, a->send.types
#define IN_TYPED(counts, places) a->receive.buffer, a->receive.counts, a->receive.places, a->receive.types
#define COMBINED(counts) a->send.buffer, a->receive.buffer, a->send.counts[0], a->send.types[0], a->op
#define CALLS_WITH(suffix, counts, places)                                                                  \
  switch (call) {                                                                                           \
    CALL(Alltoall, alltoall, suffix, OUT(counts), IN(counts))                                               \
    CALL(Allgather, allgather, suffix, OUT(counts), IN(counts))                                             \
    CALL(Allgatherv, allgatherv, suffix, OUT(counts), IN_EACH(counts, places))                              \
    CALL(Bcast, bcast, suffix, OUT(counts), a->root)                                                        \
    CALL(Reduce, reduce, suffix, COMBINED(counts), a->root)                                                 \
    CALL(Allreduce, allreduce, suffix, COMBINED(counts))                                                    \
    CALL(Reduce_scatter_block, reduce_scatter_block, suffix, COMBINED(counts))                              \
    CALL(Reduce_scatter, reduce_scatter, suffix, a->send.buffer, a->receive.buffer, a->receive.counts,      \
         a->send.types[0], a->op)                                                                           \
    CALL(Gather, gather, suffix, OUT(counts), IN(counts), a->root)                                          \
    CALL(Scatter, scatter, suffix, OUT(counts), IN(counts), a->root)                                        \
    CALL(Alltoallv, alltoallv, suffix, OUT_EACH(counts, places), IN_EACH(counts, places))                   \
    CALL(Alltoallw, alltoallw, suffix, OUT_TYPED(counts, places), IN_TYPED(counts, places))                 \
    CALL(Gatherv, gatherv, suffix, OUT(counts), IN_EACH(counts, places), a->root)                           \
    CALL(Scatterv, scatterv, suffix, OUT_EACH(counts, places), IN(counts), a->root)                         \
    CALL(Neighbor_allgather, neighbor_allgather, suffix, OUT(counts), IN(counts))                           \
    CALL(Neighbor_allgatherv, neighbor_allgatherv, suffix, OUT(counts), IN_EACH(counts, places))            \
    CALL(Neighbor_alltoall, neighbor_alltoall, suffix, OUT(counts), IN(counts))                             \
    CALL(Neighbor_alltoallv, neighbor_alltoallv, suffix, OUT_EACH(counts, places), IN_EACH(counts, places)) \
    CALL(Neighbor_alltoallw, neighbor_alltoallw, suffix, OUT_TYPED(counts, far), IN_TYPED(counts, far))     \
    default:                                                                                                \
      return MPI_ERR_OTHER;                                                                                 \
  }

/* Begins a call; a blocking one ends, too. MPI's code. */
static inline int begin_call(enum call call, enum form form, const struct arguments* a, MPI_Comm comm,
                             MPI_Request* request) {
  CALLS_WITH(, counts, places)
}

#if LARGE_COUNTS
static inline int begin_large_call(enum call call, enum form form, const struct arguments* a, MPI_Comm comm,
                                   MPI_Request* request) {
  CALLS_WITH(_c, large, far)
}
#endif

#endif
