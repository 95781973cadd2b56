#include "halo.h"

#include <stdlib.h>

#include "memory.h"

/* Places of consecutive blocks; returns where the last one ends. */
static int place(int n, const int* counts, int* places) {
  int end = 0;
  for (int i = 0; i < n; ++i) {
    places[i] = end;
    end += counts[i];
  }
  return end;
}

/* Own points and edges, and the points of other ranks at them. `local` becomes the place of each point. */
static void collect(Halo* halo, const Mesh* mesh, int rank, int32_t* local) {
  enum { ELSEWHERE = -1, NEEDED = -2 };
  for (int64_t v = 0; v < mesh->points; ++v) {
    halo->own += mesh->owner[v] == rank;
    local[v] = ELSEWHERE;
  }
  for (int64_t e = 0; e < mesh->edges; ++e) {
    const int32_t* ends = mesh->ends[e];
    const int near = mesh_worker(ends), far = !near;
    if (mesh->owner[ends[near]] != rank) continue;
    ++halo->edges;
    const int owner = mesh->owner[ends[far]];
    if (owner == rank || local[ends[far]] == NEEDED) continue;
    local[ends[far]] = NEEDED;
    ++halo->fetches[owner];
  }
  int* next = allocate(halo->ranks, sizeof *next);
  halo->fetched = place(halo->ranks, halo->fetches, next);
  halo->points = allocate((int64_t)halo->own + halo->fetched, sizeof *halo->points);
  for (int v = 0, own = 0; v < mesh->points; ++v) {
    const int owner = mesh->owner[v];
    if (owner == rank)
      local[v] = own++;
    else if (local[v] == NEEDED)
      local[v] = halo->own + next[owner]++;
    if (local[v] >= 0) halo->points[local[v]] = v;
  }
  free(next);

  halo->edge = allocate(halo->edges, sizeof *halo->edge);
  halo->ends = allocate(halo->edges, sizeof *halo->ends);
  for (int e = 0, mine = 0; e < mesh->edges; ++e) {
    const int32_t* ends = mesh->ends[e];
    if (mesh->owner[ends[mesh_worker(ends)]] != rank) continue;
    halo->edge[mine] = e;
    halo->ends[mine][0] = local[ends[0]];
    halo->ends[mine++][1] = local[ends[1]];
  }
}

void halo_inspect(Halo* halo, const Mesh* mesh, MPI_Comm comm) {
  int rank;
  *halo = (Halo){.comm = comm};
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &halo->ranks);
  halo->fetches = allocate(halo->ranks, sizeof *halo->fetches);
  halo->gives = allocate(halo->ranks, sizeof *halo->gives);
  int32_t* local = allocate(mesh->points, sizeof *local);
  collect(halo, mesh, rank, local);

  int *ask = allocate(halo->ranks, sizeof *ask), *answer = allocate(halo->ranks, sizeof *answer);
  MPI_Alltoall(halo->fetches, 1, MPI_INT, halo->gives, 1, MPI_INT, comm);
  place(halo->ranks, halo->fetches, ask);
  halo->given = place(halo->ranks, halo->gives, answer);
  halo->give = allocate(halo->given, sizeof *halo->give);
  MPI_Alltoallv(halo->points + halo->own, halo->fetches, ask, MPI_INT32_T, halo->give, halo->gives, answer, MPI_INT32_T,
                comm);
  for (int i = 0; i < halo->given; ++i) halo->give[i] = local[halo->give[i]];
  free(ask);
  free(answer);
  free(local);
}

void halo_free(Halo* halo) {
  free(halo->points);
  free(halo->edge);
  free(halo->ends);
  free(halo->give);
  free(halo->fetches);
  free(halo->gives);
}

/* Counts in values and places; for NEIGHBOR only those of the partners, whose ranks go to `who`. */
static int list(ExchangeKind kind, int ranks, int values, const int* points, int* counts, int* places, int* who) {
  int partners = 0;
  for (int r = 0; r < ranks; ++r) {
    if (kind == NEIGHBOR && points[r] == 0) continue;
    counts[partners] = points[r] * values;
    who[partners++] = r;
  }
  place(partners, counts, places);
  return partners;
}

void exchange_prepare(Exchange* exchange, ExchangeKind kind, const Halo* halo, int values, const int* gives,
                      const int64_t* out, const int* takes, int64_t* in) {
  const int n = halo->ranks;
  int *receivers = allocate(n, sizeof *receivers), *senders = allocate(n, sizeof *senders);
  *exchange = (Exchange){.kind = kind, .comm = halo->comm, .out = out, .in = in, .request = MPI_REQUEST_NULL};
  int** arrays[] = {&exchange->out_counts, &exchange->out_places, &exchange->in_counts, &exchange->in_places};
  for (int i = 0; i < 4; ++i) *arrays[i] = allocate(n, sizeof(int));
  exchange->partners_out = list(kind, n, values, gives, exchange->out_counts, exchange->out_places, receivers);
  exchange->partners_in = list(kind, n, values, takes, exchange->in_counts, exchange->in_places, senders);
  if (kind == NEIGHBOR)
    MPI_Dist_graph_create_adjacent(halo->comm, exchange->partners_in, senders, exchange->in_counts,
                                   exchange->partners_out, receivers, exchange->out_counts, MPI_INFO_NULL, 0,
                                   &exchange->comm);
#if HAS_PERSISTENT
  if (kind == PERSISTENT)
    MPI_Alltoallv_init(out, exchange->out_counts, exchange->out_places, MPI_INT64_T, in, exchange->in_counts,
                       exchange->in_places, MPI_INT64_T, exchange->comm, MPI_INFO_NULL, &exchange->request);
#endif
  free(receivers);
  free(senders);
}

void exchange_run(Exchange* exchange) {
  const Exchange* x = exchange;
  switch (x->kind) {
    case ALLTOALLV:
      MPI_Alltoallv(x->out, x->out_counts, x->out_places, MPI_INT64_T, x->in, x->in_counts, x->in_places, MPI_INT64_T,
                    x->comm);
      break;
    case NEIGHBOR:
      MPI_Neighbor_alltoallv(x->out, x->out_counts, x->out_places, MPI_INT64_T, x->in, x->in_counts, x->in_places,
                             MPI_INT64_T, x->comm);
      break;
    case PERSISTENT:
      MPI_Start(&exchange->request);
      MPI_Wait(&exchange->request, MPI_STATUS_IGNORE);
      break;
  }
}

void exchange_free(Exchange* exchange) {
  if (exchange->request != MPI_REQUEST_NULL) MPI_Request_free(&exchange->request);
  if (exchange->kind == NEIGHBOR) MPI_Comm_free(&exchange->comm);
  free(exchange->out_counts);
  free(exchange->out_places);
  free(exchange->in_counts);
  free(exchange->in_places);
}
