/* All-to-alls and all-gathers of every kind. */
#ifndef EXCHANGE_H
#define EXCHANGE_H
#include "program.h"

/* v: blocks of any size; w: with datatypes of their own. */
typedef enum {
  ALLTOALL,
  ALLTOALLV,
  ALLTOALLW,
  ALLGATHER,
  ALLGATHERV,
  NEIGHBOR_ALLTOALL,
  NEIGHBOR_ALLTOALLV,
  NEIGHBOR_ALLTOALLW,
  NEIGHBOR_ALLGATHER,
  NEIGHBOR_ALLGATHERV
} Kind;
typedef enum { BLOCKING, NONBLOCKING, PERSISTENT } Form;

/* What a rank sends, or receives: `blocks` of them, to or from these peers. */
typedef struct {
  int blocks;
  int *peers, *edges;     /* which of several edges between two ranks */
  int *counts, *places;   /* of `type`, in its extents; or of each block's `types`, in bytes */
  MPI_Count* wide_counts; /* the same, for calls that want these */
  MPI_Aint* wide_places;
  MPI_Datatype type, *types;
  void* base;
} Side;

typedef struct {
  Kind kind;
  Form form;
  int large; /* the call with large counts, if there is one */
  int in_place;
  Side send, receive;
  MPI_Comm comm;
} Exchange;

int call_exchange(const Exchange* x, MPI_Request* request);
int call_large_exchange(const Exchange* x, MPI_Request* request);

#endif
