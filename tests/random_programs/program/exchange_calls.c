/* The sixty calls of exchanges. */
#include <stdlib.h>

#include "exchange.h"

#ifdef HAS_PERSISTENT_COLLECTIVES
#define INIT(name, suffix, ...) MPI_##name##_init##suffix(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define INIT(name, suffix, ...) (abort(), MPI_ERR_OTHER)
#endif
#define CASE(kind, name, lower_name, suffix, ...)               \
  case kind:                                                    \
    switch (x->form) {                                          \
      case BLOCKING:                                            \
        return MPI_##name##suffix(__VA_ARGS__);                 \
      case NONBLOCKING:                                         \
        return MPI_I##lower_name##suffix(__VA_ARGS__, request); \
      default:                                                  \
        return INIT(name, suffix, __VA_ARGS__);                 \
    }

/* Arguments: equal blocks, blocks of any size, with types of their own; the same for all-gathers. */
#define EQUAL out, one_out, s->type, in, one_in, r->type, x->comm
#define ANY out, s->counts, s->places, s->type, in, r->counts, r->places, r->type, x->comm
#define TYPED out, s->counts, s->places, s->types, in, r->counts, r->places, r->types, x->comm
#define GATHERED out, one_out, s->type, in, r->counts, r->places, r->type, x->comm

int call_exchange(const Exchange* x, MPI_Request* request) {
  const Side *const s = &x->send, *const r = &x->receive;
  const void* const out = x->in_place ? MPI_IN_PLACE : s->base;
  void* const in = r->base;
  const int one_out = s->counts[0], one_in = r->counts[0];
  switch (x->kind) {
    CASE(ALLTOALL, Alltoall, alltoall, , EQUAL)
    CASE(ALLTOALLV, Alltoallv, alltoallv, , ANY)
    CASE(ALLTOALLW, Alltoallw, alltoallw, , TYPED)
    CASE(ALLGATHER, Allgather, allgather, , EQUAL)
    CASE(ALLGATHERV, Allgatherv, allgatherv, , GATHERED)
    CASE(NEIGHBOR_ALLTOALL, Neighbor_alltoall, neighbor_alltoall, , EQUAL)
    CASE(NEIGHBOR_ALLTOALLV, Neighbor_alltoallv, neighbor_alltoallv, , ANY)
    CASE(NEIGHBOR_ALLGATHER, Neighbor_allgather, neighbor_allgather, , EQUAL)
    CASE(NEIGHBOR_ALLGATHERV, Neighbor_allgatherv, neighbor_allgatherv, , GATHERED)
    default:
      break;
  }
  const MPI_Aint *const from = s->wide_places, *const to = r->wide_places;
  switch (x->kind) {
    CASE(NEIGHBOR_ALLTOALLW, Neighbor_alltoallw, neighbor_alltoallw, , out, s->counts, from, s->types, in, r->counts,
         to, r->types, x->comm)
    default:
      return MPI_ERR_OTHER;
  }
}

#undef ANY
#undef TYPED
#undef GATHERED
#define ANY out, s->wide_counts, from, s->type, in, r->wide_counts, to, r->type, x->comm
#define TYPED out, s->wide_counts, from, s->types, in, r->wide_counts, to, r->types, x->comm
#define GATHERED out, one_out, s->type, in, r->wide_counts, to, r->type, x->comm

int call_large_exchange(const Exchange* x, MPI_Request* request) {
#ifdef HAS_LARGE_COUNTS
  const Side *const s = &x->send, *const r = &x->receive;
  const void* const out = x->in_place ? MPI_IN_PLACE : s->base;
  void* const in = r->base;
  const MPI_Count one_out = s->counts[0], one_in = r->counts[0];
  const MPI_Aint *const from = s->wide_places, *const to = r->wide_places;
  switch (x->kind) {
    CASE(ALLTOALL, Alltoall, alltoall, _c, EQUAL)
    CASE(ALLTOALLV, Alltoallv, alltoallv, _c, ANY)
    CASE(ALLTOALLW, Alltoallw, alltoallw, _c, TYPED)
    CASE(ALLGATHER, Allgather, allgather, _c, EQUAL)
    CASE(ALLGATHERV, Allgatherv, allgatherv, _c, GATHERED)
    CASE(NEIGHBOR_ALLTOALL, Neighbor_alltoall, neighbor_alltoall, _c, EQUAL)
    CASE(NEIGHBOR_ALLTOALLV, Neighbor_alltoallv, neighbor_alltoallv, _c, ANY)
    CASE(NEIGHBOR_ALLTOALLW, Neighbor_alltoallw, neighbor_alltoallw, _c, TYPED)
    CASE(NEIGHBOR_ALLGATHER, Neighbor_allgather, neighbor_allgather, _c, EQUAL)
    CASE(NEIGHBOR_ALLGATHERV, Neighbor_allgatherv, neighbor_allgatherv, _c, GATHERED)
  }
  return MPI_ERR_OTHER;
#else
  return call_exchange(x, request);
#endif
}
