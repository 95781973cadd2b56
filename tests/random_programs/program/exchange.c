#include "exchange.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "types.h"

/* Datatypes may be freed as soon as a call has begun, but Open MPI 5.0 reads them later in
 * persistent ones. */
#ifdef OPEN_MPI
#define MAY_FREE_TYPES(x) ((x)->form == NONBLOCKING)
#define CAN_COPY 0 /* from one datatype to another: 5.0 writes past the end, or now and then other bytes */
#else
#define MAY_FREE_TYPES(x) 1
#define CAN_COPY 1
#endif

enum { UNIT = 12, MOST_EDGES = 64 };

/* How much goes from whom to whom: every rank can tell it of every pair. */
typedef enum { UNIFORM, DENSE, SPARSE, ONE_RECEIVER, ONE_SENDER, NOTHING } Pattern;
typedef struct {
  uint64_t key;
  Pattern pattern;
  int most; /* units of a block */
  int unit; /* elements */
  int symmetric, alike;
  Element element;
} Sizes;

static Sizes draw_sizes(Program* p, Kind kind, int in_place) {
  static const int most[] = {1, 1, 4, 4, 10, 10, 30, 30, 100, 700};
  Draw* d = &p->draw;
  Sizes sizes = {.key = draw_bits(d), .unit = chance(d, 70) ? UNIT : 1, .element = (Element)below(d, ELEMENT_KINDS)};
  sizes.most = most[below(d, 10)];
  sizes.pattern = (Pattern)(chance(d, 50) ? DENSE : below(d, NOTHING + 1));
  if (kind == ALLTOALL || kind == ALLGATHER || kind == NEIGHBOR_ALLTOALL || kind == NEIGHBOR_ALLGATHER)
    sizes.pattern = chance(d, 96) ? UNIFORM : NOTHING;
  sizes.symmetric = in_place && kind != ALLGATHERV;
  /* Open MPI 5.0 chooses its algorithm by the size of the rank's datatype, MPICH 5.0 its pieces by the extent. */
  sizes.alike = kind == ALLGATHERV;
  return sizes;
}

/* Elements from one rank to another; `side`: the sender's, of an intercommunicator. */
static int elements(const Sizes* s, int side, int from, int to, int edge) {
  const int a = s->symmetric && to < from ? to : from, b = s->symmetric && to < from ? from : to;
  Draw lot = {mixed(mixed(s->key, (uint64_t)(side * 1000 + a)), (uint64_t)(b * 1000 + edge))};
  const int some = s->unit * between(&lot, 1, s->most);
  switch (s->pattern) {
    case UNIFORM:
      return s->unit * s->most;
    case DENSE:
      return some;
    case SPARSE:
      return chance(&lot, 40) ? some : 0;
    case ONE_RECEIVER:
      return b == (int)(s->key % 3) ? some : 0;
    case ONE_SENDER:
      return a == (int)(s->key % 3) ? some : 0;
    default:
      return 0;
  }
}

static int is_gather(Kind kind) {
  return kind == ALLGATHER || kind == ALLGATHERV || kind == NEIGHBOR_ALLGATHER || kind == NEIGHBOR_ALLGATHERV;
}

static int is_typed(Kind kind) { return kind == ALLTOALLW || kind == NEIGHBOR_ALLTOALLW; }

static int is_equal(Kind kind) {
  return kind == ALLTOALL || kind == ALLGATHER || kind == NEIGHBOR_ALLTOALL || kind == NEIGHBOR_ALLGATHER;
}

static void set_blocks(Work* w, Side* side, int blocks) {
  const size_t n = (size_t)blocks + 1;
  side->blocks = blocks;
  side->peers = keep(w, n * sizeof(int)), side->edges = keep(w, n * sizeof(int));
  side->counts = keep(w, n * sizeof(int)), side->places = keep(w, n * sizeof(int));
  side->wide_counts = keep(w, n * sizeof(MPI_Count)), side->wide_places = keep(w, n * sizeof(MPI_Aint));
  side->types = keep(w, n * sizeof(MPI_Datatype));
}

/* Whom the blocks go to and come from. */
static void set_peers(Work* w, Exchange* x, const Slot* slot) {
  Side *out = &x->send, *in = &x->receive;
  int from[MOST_EDGES], to[MOST_EDGES], weights_in[MOST_EDGES], weights_out[MOST_EDGES];
  int sources = slot->n, destinations = slot->n, dimensions, weighted;
  if (x->kind < NEIGHBOR_ALLTOALL) {
    for (int i = 0; i < slot->n; ++i) from[i] = to[i] = i;
  } else if (slot->topology == MPI_CART) {
    MPI_Cartdim_get(slot->comm, &dimensions);
    sources = destinations = 2 * dimensions;
    for (int d = 0; d < dimensions; ++d) MPI_Cart_shift(slot->comm, d, 1, &from[2 * d], &from[2 * d + 1]);
    memcpy(to, from, sizeof to);
  } else if (slot->topology == MPI_GRAPH) {
    MPI_Graph_neighbors_count(slot->comm, slot->rank, &sources);
    MPI_Graph_neighbors(slot->comm, slot->rank, sources, from);
    destinations = sources;
    memcpy(to, from, sizeof to);
  } else {
    MPI_Dist_graph_neighbors_count(slot->comm, &sources, &destinations, &weighted);
    MPI_Dist_graph_neighbors(slot->comm, sources, from, weights_in, destinations, to, weights_out);
  }
  set_blocks(w, out, is_gather(x->kind) ? 1 : destinations);
  set_blocks(w, in, sources);
  for (int i = 0; i < out->blocks; ++i) out->peers[i] = is_gather(x->kind) ? slot->rank : to[i];
  for (int i = 0; i < in->blocks; ++i) in->peers[i] = from[i];
  if (slot->topology != MPI_DIST_GRAPH || x->kind < NEIGHBOR_ALLTOALL || is_gather(x->kind)) return;
  for (int i = 0; i < out->blocks; ++i)
    for (int j = 0; j < i; ++j) out->edges[i] += to[j] == to[i];
  for (int i = 0; i < in->blocks; ++i)
    for (int j = 0; j < i; ++j) in->edges[i] += from[j] == from[i];
}

/* How many of a type's elements make one of it. */
static int draw_unit(Draw* draw, const Sizes* sizes) {
  static const int units[] = {1, 1, 2, 3, 4, 6, 12};
  return sizes->unit == UNIT ? units[below(draw, 7)] : 1;
}

/* Absolute addresses: what takes MPI_BOTTOM. */
static MPI_Datatype absolute(Work* w, MPI_Datatype type, void* base) {
  const int one = 1;
  MPI_Aint at;
  MPI_Datatype placed;
  MPI_Get_address(base, &at);
  MPI_Type_create_hindexed(1, &one, &at, type, &placed);
  return own_type(w, placed);
}

/* Memory for bytes [from, to), seen from the address that a call is given; that address. */
static void* draw_memory(Program* p, Work* w, MPI_Aint from, MPI_Aint to) {
  if (from > to) from = to = 0;
  const MPI_Aint guard = 16 + below(&p->own, 64);
  const MPI_Aint begin = (guard - from + 15) / 16 * 16; /* of the address, in the memory */
  Memory* m = add_memory(w, (size_t)(begin + to + guard));
  return m->bytes + begin;
}

/* Where the blocks are, one after the other in random order with gaps, or all of them in one place. */
static int draw_places(Program* p, Side* side, int equal, int may_overlap) {
  int order[MOST_EDGES], end = 0;
  const int gaps = below(&p->own, 4);
  if (equal) {
    for (int i = 0; i < side->blocks; ++i) side->places[i] = i * side->counts[i];
    return side->blocks == 0 ? 0 : side->blocks * side->counts[0];
  }
  const int together = may_overlap && chance(&p->own, 10);
  shuffled(&p->own, side->blocks, order);
  for (int i = 0; i < side->blocks; ++i) {
    const int block = order[i], begin = together ? 0 : end;
    const int after = begin + side->counts[block] + below(&p->own, gaps + 1);
    side->places[block] = begin;
    end = after > end ? after : end;
  }
  return end;
}

static void draw_side(Program* p, Work* w, Side* side, const Sizes* sizes, const int* lengths, int equal, int sends) {
  Draw alike = {sizes->key}, *draw = sizes->alike ? &alike : &p->own;
  const int unit = draw_unit(draw, sizes);
  MPI_Aint from = 0, to = 0, lower, extent;
  for (int i = 0; i < side->blocks || i == 0; ++i) side->counts[i] = lengths[i] / unit;
  const int room = draw_places(p, side, equal, sends);
  side->type = draw_type(w, draw, sizes->element, unit, room < 3000 ? room : 0);
  MPI_Type_get_extent(side->type, &lower, &extent);
  span(side->type, room, &from, &to);
  side->base = draw_memory(p, w, from, to);
  for (int i = 0; i < side->blocks; ++i)
    if (!equal && side->counts[i] == 0 && chance(&p->own, 20)) side->places[i] = INT_MAX;
  if (unit > 1 && chance(&p->own, 10)) {
    side->type = absolute(w, side->type, side->base);
    side->base = MPI_BOTTOM;
  }
}

static void draw_typed_side(Program* p, Work* w, Side* side, const Sizes* sizes, const int* lengths) {
  MPI_Aint end = 0, before = 0;
  const int at_bottom = chance(&p->own, 10);
  for (int i = 0; i < side->blocks; ++i) {
    const int unit = draw_unit(&p->own, sizes);
    MPI_Aint from, to;
    side->counts[i] = lengths[i] / unit;
    side->types[i] = draw_type(w, &p->own, sizes->element, unit, side->counts[i] < 3000 ? side->counts[i] : 0);
    span(side->types[i], side->counts[i], &from, &to);
    if (i == 0) before = from < 0 ? (from - 15) / 16 * 16 : 0;
    side->wide_places[i] = (end - from + 15) / 16 * 16;
    end = side->wide_places[i] + to + 8 * below(&p->own, 3);
  }
  unsigned char* base = draw_memory(p, w, before, end);
  for (int i = 0; i < side->blocks; ++i)
    if (at_bottom && sizes->unit > 1) {
      side->types[i] = absolute(w, side->types[i], base + side->wide_places[i]);
      side->wide_places[i] = 0;
    }
  side->base = at_bottom && sizes->unit > 1 ? MPI_BOTTOM : base;
}

static void draw_both_sides(Program* p, Work* w, Exchange* x, const Sizes* sizes, const Slot* slot) {
  for (int sends = 0; sends < 2; ++sends) {
    Side* side = sends ? &x->send : &x->receive;
    int lengths[MOST_EDGES];
    const int group = slot->inter ? (sends ? slot->side : 1 - slot->side) : 0;
    for (int i = 0; i < side->blocks || i == 0; ++i) { /* a count even where there are no blocks */
      const int peer = side->peers[i], me = slot->rank;
      lengths[i] = is_gather(x->kind) ? elements(sizes, group, peer < 0 ? 0 : peer, 0, 0)
                                      : elements(sizes, group, sends ? me : peer, sends ? peer : me, side->edges[i]);
    }
    if (sends && x->in_place) continue;
    if (is_typed(x->kind))
      draw_typed_side(p, w, side, sizes, lengths);
    else
      draw_side(p, w, side, sizes, lengths, is_equal(x->kind), sends);
    for (int i = 0; i < side->blocks; ++i) {
      if (is_typed(x->kind)) side->places[i] = (int)side->wide_places[i];
      side->wide_places[i] = is_typed(x->kind) ? side->wide_places[i] : side->places[i];
      side->wide_counts[i] = side->counts[i];
    }
  }
  if (!x->in_place) return;
  x->send.type = MPI_DATATYPE_NULL;
  x->send.blocks = 0;
}

static int call(const Exchange* x, MPI_Request* request) {
  return x->large ? call_large_exchange(x, request) : call_exchange(x, request);
}

static Form draw_form(Draw* d) {
#ifdef HAS_PERSISTENT_COLLECTIVES
  return (Form)(chance(d, 45) ? BLOCKING : between(d, NONBLOCKING, PERSISTENT));
#else
  return chance(d, 60) ? BLOCKING : NONBLOCKING;
#endif
}

void exchange(Program* p) {
  Draw* d = &p->draw;
  const Slot* slot = &p->slots[any_slot(p)];
  Exchange x = {.kind = (Kind)below(d, 5), .form = draw_form(d), .large = chance(d, 25), .comm = slot->comm};
  if (slot->topology != MPI_UNDEFINED && chance(d, 80)) x.kind += NEIGHBOR_ALLTOALL;
  x.in_place = x.kind < NEIGHBOR_ALLTOALL && !slot->inter && chance(d, 15);
  const Sizes sizes = draw_sizes(p, x.kind, x.in_place);
  const int calls = chance(d, 50) ? 1 : between(d, 2, 4), early = chance(&p->own, 30);
  if (slot->comm == MPI_COMM_NULL || (slot->n == 1 && !slot->inter && !CAN_COPY)) return;
  Work* w = new_work(p);
  note(p, "  slot %d of %d, kind %d, form %d%s%s, pattern %d of %d x %d, element %d, %d calls%s",
       (int)(slot - p->slots), slot->n, x.kind, x.form, x.large ? ", large" : "", x.in_place ? ", in place" : "",
       sizes.pattern, sizes.most, sizes.unit, sizes.element, calls, early ? ", types freed" : "");
  set_peers(w, &x, slot);
  draw_both_sides(p, w, &x, &sizes, slot);
  note(p, "  sends %d x %d%s, receives %d x %d%s", x.send.blocks, x.send.blocks ? x.send.counts[0] : 0,
       x.send.base == MPI_BOTTOM ? " at bottom" : "", x.receive.blocks, x.receive.blocks ? x.receive.counts[0] : 0,
       x.receive.base == MPI_BOTTOM ? " at bottom" : "");
  if (x.form == BLOCKING) {
    for (int i = 0; i < calls; ++i) {
      fill(w);
      look_at_error(p, call(&x, NULL));
      look_at_work(p, w);
    }
    release(w);
    return;
  }
  w->collective = 1;
  w->persistent = x.form == PERSISTENT;
  w->active = !w->persistent;
  if (w->active) fill(w);
  look_at_error(p, call(&x, &w->request));
  if (early && MAY_FREE_TYPES(&x)) free_types(w);
}
