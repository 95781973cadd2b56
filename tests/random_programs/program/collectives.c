/* Collectives other than exchanges, blocking and not. */
#include "program.h"

typedef enum {
  BARRIER,
  ALLREDUCE,
  BCAST,
  REDUCE,
  GATHER,
  SCATTER,
  GATHERV,
  SCATTERV,
  SCAN,
  EXSCAN,
  REDUCE_SCATTER,
  REDUCE_SCATTER_BLOCK,
  COLLECTIVES
} Name;

/* The arguments of all of them; counts and places of each rank's part. */
typedef struct {
  void *in, *out;
  int count, root, in_place;
  int *counts, *places;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;
} Arguments;

static Arguments draw_arguments(Program* p, Work* w, const Slot* s) {
  const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_BXOR, MPI_PROD, MPI_MIN, MPI_BAND, MPI_LXOR};
  const MPI_Datatype types[] = {MPI_UINT64_T, MPI_INT64_T, MPI_UNSIGNED, MPI_INT};
  Draw d = p->draw;
  Arguments a = {.count = chance(&d, 10) ? 0 : between(&d, 1, chance(&d, 10) ? 5000 : 60)};
  a.op = ops[below(&d, 7)];
  a.type = types[below(&d, 4)];
  a.in_place = chance(&d, 20) && !s->inter;
  a.root = below(&d, s->n);
  a.comm = s->comm;
  a.counts = keep(w, sizeof(int) * (size_t)s->n), a.places = keep(w, sizeof(int) * (size_t)s->n);
  int end = 0;
  for (int i = 0; i < s->n; ++i) {
    a.counts[i] = below(&d, a.count + 1);
    a.places[i] = end;
    end += a.counts[i] + below(&d, 3);
  }
  const size_t room = 8 * (size_t)(a.count * s->n + end + 1);
  a.in = add_memory(w, room)->bytes;
  a.out = add_memory(w, room)->bytes;
  fill(w);
  return a;
}

static int call_blocking(Name name, const Arguments* a, int me) {
  const MPI_Datatype type = a->type;
  const void* from = a->in_place ? MPI_IN_PLACE : a->in; /* of calls that say what all of the memory holds then */
  const int stays = a->in_place && me == a->root;        /* what a root has for itself */
  const void* own_from = stays ? MPI_IN_PLACE : a->in;
  void* own_to = stays ? MPI_IN_PLACE : a->out;
  switch (name) {
    case BARRIER:
      return MPI_Barrier(a->comm);
    case ALLREDUCE:
      return MPI_Allreduce(from, a->out, a->count, type, a->op, a->comm);
    case BCAST:
      return MPI_Bcast(a->out, a->count, type, a->root, a->comm);
    case REDUCE:
      return MPI_Reduce(a->in, a->out, a->count, type, a->op, a->root, a->comm);
    case GATHER:
      return MPI_Gather(own_from, a->count, type, a->out, a->count, type, a->root, a->comm);
    case SCATTER:
      return MPI_Scatter(a->in, a->count, type, own_to, a->count, type, a->root, a->comm);
    case GATHERV:
      return MPI_Gatherv(own_from, a->counts[me], type, a->out, a->counts, a->places, type, a->root, a->comm);
    case SCATTERV:
      return MPI_Scatterv(a->in, a->counts, a->places, type, own_to, a->counts[me], type, a->root, a->comm);
    case SCAN:
      return MPI_Scan(a->in, a->out, a->count, type, a->op, a->comm);
    case EXSCAN:
      return MPI_Exscan(a->in, a->out, a->count, type, a->op, a->comm);
    case REDUCE_SCATTER:
      return MPI_Reduce_scatter(a->in, a->out, a->counts, type, a->op, a->comm);
    default:
      return MPI_Reduce_scatter_block(a->in, a->out, a->count, type, a->op, a->comm);
  }
}

static int call_nonblocking(Name name, const Arguments* a, int me, MPI_Request* r) {
  const MPI_Datatype type = a->type;
  const void* from = a->in_place ? MPI_IN_PLACE : a->in; /* of calls that say what all of the memory holds then */
  const int stays = a->in_place && me == a->root;        /* what a root has for itself */
  const void* own_from = stays ? MPI_IN_PLACE : a->in;
  void* own_to = stays ? MPI_IN_PLACE : a->out;
  switch (name) {
    case BARRIER:
      return MPI_Ibarrier(a->comm, r);
    case ALLREDUCE:
      return MPI_Iallreduce(from, a->out, a->count, type, a->op, a->comm, r);
    case BCAST:
      return MPI_Ibcast(a->out, a->count, type, a->root, a->comm, r);
    case REDUCE:
      return MPI_Ireduce(a->in, a->out, a->count, type, a->op, a->root, a->comm, r);
    case GATHER:
      return MPI_Igather(own_from, a->count, type, a->out, a->count, type, a->root, a->comm, r);
    case SCATTER:
      return MPI_Iscatter(a->in, a->count, type, own_to, a->count, type, a->root, a->comm, r);
    case GATHERV:
      return MPI_Igatherv(own_from, a->counts[me], type, a->out, a->counts, a->places, type, a->root, a->comm, r);
    case SCATTERV:
      return MPI_Iscatterv(a->in, a->counts, a->places, type, own_to, a->counts[me], type, a->root, a->comm, r);
    case SCAN:
      return MPI_Iscan(a->in, a->out, a->count, type, a->op, a->comm, r);
    case EXSCAN:
      return MPI_Iexscan(a->in, a->out, a->count, type, a->op, a->comm, r);
    case REDUCE_SCATTER:
      return MPI_Ireduce_scatter(a->in, a->out, a->counts, type, a->op, a->comm, r);
    default:
      return MPI_Ireduce_scatter_block(a->in, a->out, a->count, type, a->op, a->comm, r);
  }
}

/* Of intercommunicators only what needs no root. */
static Name draw_name(Program* p, const Slot* s) {
  const Name name = (Name)below(&p->draw, chance(&p->draw, 40) ? ALLREDUCE + 1 : COLLECTIVES);
  return s->inter && name != BARRIER ? ALLREDUCE : name;
}

void collective(Program* p) {
  const Slot* s = &p->slots[any_slot(p)];
  const Name name = draw_name(p, s);
  if (s->comm == MPI_COMM_NULL) return;
  note(p, "  slot %d, call %d", (int)(s - p->slots), name);
  Work* w = new_work(p);
  const Arguments arguments = draw_arguments(p, w, s);
  look_at_error(p, call_blocking(name, &arguments, s->rank));
  look_at_work(p, w);
  release(w);
}

void nonblocking_collective(Program* p) {
  const Slot* s = &p->slots[any_slot(p)];
  const Name name = draw_name(p, s);
  if (s->comm == MPI_COMM_NULL) return;
  note(p, "  slot %d, call %d", (int)(s - p->slots), name);
  Work* w = new_work(p);
  const Arguments arguments = draw_arguments(p, w, s);
  w->active = 1;
  look_at_error(p, call_nonblocking(name, &arguments, s->rank, &w->request));
}
