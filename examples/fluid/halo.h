/* Which points of other ranks a rank's edges touch (the inspector), and the exchange of their values (the
 * executor). The two come from Saltz and others' PARTI; the inspector runs once, as the mesh does not change. */
#ifndef FLUID_HALO_H
#define FLUID_HALO_H

#include <mpi.h>
#include <stdint.h>

#include "mesh.h"

typedef enum { ALLTOALLV, NEIGHBOR, PERSISTENT } ExchangeKind;

/* Whether the MPI that this was compiled for has MPI_Alltoallv_init: MPI 4, or Open MPI 5 ahead of it. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#endif

/* A rank's share of the mesh. Its own points come first, in the order of the mesh; then the `fetched` ones of
 * other ranks, by rank and number. */
typedef struct {
  MPI_Comm comm;
  int ranks, own, fetched, given;
  int32_t* points;      /* [own + fetched]: their numbers in the mesh */
  int edges;            /* that this rank works on */
  int32_t* edge;        /* [edges]: their numbers in the mesh */
  int32_t (*ends)[2];   /* [edges]: places of their ends in `points` */
  int32_t* give;        /* [given]: places of own points that others fetch, by rank and number */
  int *fetches, *gives; /* [ranks]: how many points from, to each rank */
} Halo;

/* Collective. Every rank asks the owners for what its edges need. */
void halo_inspect(Halo* halo, const Mesh* mesh, MPI_Comm comm);
void halo_free(Halo* halo);

/* One direction of the exchange, ready to be run any number of times on the same two buffers. */
typedef struct {
  ExchangeKind kind;
  MPI_Comm comm;
  const int64_t* out;
  int64_t* in;
  int partners_out, partners_in;                        /* entries of the four arrays below */
  int *out_counts, *out_places, *in_counts, *in_places; /* in values */
  MPI_Request request;
} Exchange;

/* Collective. gives[r] points of `values` values to rank r, one after the other in `out`; takes[r] to `in`. */
void exchange_prepare(Exchange* exchange, ExchangeKind kind, const Halo* halo, int values, const int* gives,
                      const int64_t* out, const int* takes, int64_t* in);
void exchange_run(Exchange* exchange);
void exchange_free(Exchange* exchange);

#endif
