/* Communicators of every kind. */
#include <stdlib.h>

#include "program.h"

static void set(Slot* s, MPI_Comm comm, int inter, int side) {
  *s = (Slot){.used = 1, .comm = comm, .topology = MPI_UNDEFINED, .inter = inter, .side = side};
  if (comm == MPI_COMM_NULL) return;
  MPI_Comm_rank(comm, &s->rank);
  if (inter)
    MPI_Comm_remote_size(comm, &s->n);
  else
    MPI_Comm_size(comm, &s->n);
}

void first_slots(Program* p) {
  MPI_Comm self = MPI_COMM_SELF;
  if (p->threads > 1) MPI_Comm_dup(MPI_COMM_SELF, &self);
  set(&p->slots[0], p->world, 0, 0);
  set(&p->slots[1], self, 0, 0);
}

static void free_slot(Slot* s) {
  s->used = 0;
  if (s->comm != MPI_COMM_NULL) MPI_Comm_free(&s->comm);
}

void free_slots(Program* p) {
  for (int i = FIXED_SLOTS; i < MOST_SLOTS; ++i)
    if (p->slots[i].used) free_slot(&p->slots[i]);
  if (p->threads > 1) free_slot(&p->slots[1]);
}

/* One that is used and, if wanted, no intercommunicator; the program's first one most often. */
static int draw_slot(Program* p, int intra) {
  const int first = below(&p->draw, MOST_SLOTS);
  if (chance(&p->draw, 30)) return 0;
  for (int i = first;; i = (i + 1) % MOST_SLOTS)
    if (p->slots[i].used && (!intra || !p->slots[i].inter)) return i;
}

int any_slot(Program* p) { return draw_slot(p, 0); }
int intra_slot(Program* p) { return draw_slot(p, 1); }

typedef enum {
  DUP,
  DUP_WITH_INFO,
  IDUP,
  SPLIT,
  SPLIT_TYPE,
  CREATE,
  CREATE_GROUP,
  CART,
  CART_SUB,
  GRAPH,
  ADJACENT,
  ONE_TELLS_ALL,
  INTER,
  MERGE,
  MAKERS
} Maker;

static MPI_Comm split(Program* p, const Slot* from) {
  MPI_Comm made;
  const int colours = between(&p->draw, 1, 3);
  const int colour = chance(&p->own, 10) ? MPI_UNDEFINED : below(&p->own, colours);
  MPI_Comm_split(from->comm, colour, below(&p->own, 5), &made);
  return made;
}

/* Some ranks of a communicator, in another order; at least one. */
static MPI_Group some_ranks(Program* p, const Slot* from) {
  MPI_Group all, some;
  int order[MOST_RANKS];
  Draw lot = p->draw; /* alike in a communicator, whatever else a rank draws */
  shuffled(&lot, from->n, order);
  MPI_Comm_group(from->comm, &all);
  if (chance(&lot, 50))
    MPI_Group_incl(all, between(&lot, 1, from->n), order, &some);
  else
    MPI_Group_excl(all, below(&lot, from->n), order, &some);
  MPI_Group_free(&all);
  return some;
}

static MPI_Comm create(Program* p, const Slot* from, int by_group_only) {
  MPI_Group group = some_ranks(p, from);
  MPI_Comm made = MPI_COMM_NULL;
  int member;
  MPI_Group_rank(group, &member);
  if (!by_group_only)
    MPI_Comm_create(from->comm, group, &made);
  else if (member != MPI_UNDEFINED)
    MPI_Comm_create_group(from->comm, group, 77, &made);
  MPI_Group_free(&group);
  return made;
}

static MPI_Comm cart(Program* p, const Slot* from, int sub) {
  MPI_Comm made, part;
  int dims[3] = {0}, periods[3], keep[3];
  const int n = chance(&p->draw, 20) && from->n > 1 ? from->n - 1 : from->n, dimensions = between(&p->draw, 1, 3);
  for (int d = 0; d < dimensions; ++d) periods[d] = chance(&p->draw, 50), keep[d] = d == 0 || chance(&p->draw, 50);
  MPI_Dims_create(n, dimensions, dims);
  MPI_Cart_create(from->comm, dimensions, dims, periods, 0, &made);
  if (!sub || made == MPI_COMM_NULL) return made;
  MPI_Cart_sub(made, keep, &part);
  MPI_Comm_free(&made);
  return part;
}

/* Whether two ranks are neighbours, or how many edges lead from one to the other. */
static int edges_between(uint64_t key, int from, int to, int most) {
  Draw lot = {mixed(key, (uint64_t)(from * 1000 + to))};
  return chance(&lot, 45) ? between(&lot, 1, most) : 0;
}

static MPI_Comm graph(Program* p, const Slot* from) {
  int index[MOST_RANKS], edges[MOST_RANKS * MOST_RANKS], n = 0;
  const uint64_t key = draw_bits(&p->draw);
  MPI_Comm made;
  for (int a = 0; a < from->n; ++a) {
    for (int b = 0; b < from->n; ++b)
      if (a != b && edges_between(key, a < b ? a : b, a < b ? b : a, 1)) edges[n++] = b;
    index[a] = n;
  }
  MPI_Graph_create(from->comm, from->n, index, edges, 0, &made);
  return made;
}

/* `together`: one rank knows all edges (if several did, the order of neighbours would be left to chance). */
static MPI_Comm distributed_graph(Program* p, const Slot* from, int together) {
  enum { MOST = 48 };
  int sources[MOST], destinations[MOST], in = 0, out = 0, weights[MOST_RANKS * MOST];
  const uint64_t key = draw_bits(&p->draw);
  const int most = between(&p->draw, 1, 2), weighted = chance(&p->draw, 50);
  MPI_Comm made;
  for (int i = 0; i < MOST_RANKS * MOST; ++i) weights[i] = 1;
  if (together) {
    int nodes[MOST_RANKS], degrees[MOST_RANKS], all[MOST_RANKS * MOST], n = 0;
    for (int a = 0; a < from->n; ++a) {
      nodes[a] = a;
      degrees[a] = 0;
      for (int b = 0; b < from->n; ++b)
        for (int e = edges_between(key, a, b, most); e > 0; --e) all[n++] = b, ++degrees[a];
    }
    MPI_Dist_graph_create(from->comm, from->rank == 0 ? from->n : 0, nodes, degrees, all,
                          weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
    return made;
  }
  Draw order = p->own;
  const int first = below(&order, from->n);
  for (int i = 0; i < from->n; ++i) {
    const int other = (first + i) % from->n;
    for (int e = edges_between(key, other, from->rank, most); e > 0; --e) sources[in++] = other;
    for (int e = edges_between(key, from->rank, other, most); e > 0; --e) destinations[out++] = other;
  }
  MPI_Dist_graph_create_adjacent(from->comm, in, sources, weighted ? weights : MPI_UNWEIGHTED, out, destinations,
                                 weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  return made;
}

static MPI_Comm inter(Program* p, const Slot* from, int* side) {
  const uint64_t lot = draw_bits(&p->draw);
  MPI_Comm half, made;
  if (from->n < 2) return MPI_COMM_NULL;
  const int second = 1 + (int)(lot % (uint64_t)(from->n - 1)); /* the first rank of the other half */
  *side = from->rank >= second;
  MPI_Comm_split(from->comm, *side, from->rank, &half);
  MPI_Intercomm_create(half, 0, from->comm, *side ? 0 : second, 78, &made);
  MPI_Comm_free(&half);
  return made;
}

static MPI_Comm merge(const Slot* from) {
  MPI_Comm made;
  if (from->inter)
    MPI_Intercomm_merge(from->comm, !from->side, &made);
  else
    MPI_Comm_dup(from->comm, &made);
  return made;
}

static MPI_Comm idup(const Slot* from) {
  MPI_Comm made;
  MPI_Request request;
  MPI_Comm_idup(from->comm, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return made;
}

static MPI_Comm make(Program* p, Maker maker, const Slot* from, int* side) {
  MPI_Comm made;
  switch (maker) {
    case DUP_WITH_INFO:
      MPI_Comm_dup_with_info(from->comm, MPI_INFO_NULL, &made);
      return made;
    case IDUP:
      return idup(from);
    case SPLIT:
      return split(p, from);
    case SPLIT_TYPE:
      MPI_Comm_split_type(from->comm, MPI_COMM_TYPE_SHARED, -from->rank, MPI_INFO_NULL, &made);
      return made;
    case CREATE:
    case CREATE_GROUP:
      return create(p, from, maker == CREATE_GROUP);
    case CART:
    case CART_SUB:
      return cart(p, from, maker == CART_SUB);
    case GRAPH:
      return graph(p, from);
    case ADJACENT:
    case ONE_TELLS_ALL:
      return distributed_graph(p, from, maker == ONE_TELLS_ALL);
    case INTER:
      return inter(p, from, side);
    case MERGE:
      return merge(from);
    default:
      MPI_Comm_dup(from->comm, &made);
      return made;
  }
}

void create_communicator(Program* p) {
  const Maker maker = (Maker)below(&p->draw, MAKERS);
  const int only_intra = maker != MERGE && maker != DUP;
  const Slot from = p->slots[only_intra ? intra_slot(p) : any_slot(p)];
  int place = FIXED_SLOTS, side = from.side;
  while (place < MOST_SLOTS && p->slots[place].used) ++place;
  if (place == MOST_SLOTS) return;
  note(p, "  maker %d into slot %d", maker, place);
  MPI_Comm made = MPI_COMM_NULL;
  if (from.comm != MPI_COMM_NULL) made = make(p, maker, &from, &side);
  const int is_inter = maker == INTER || (maker == DUP && from.inter);
  set(&p->slots[place], made, is_inter, side);
  p->slots[place].topology = maker == CART || maker == CART_SUB                        ? MPI_CART
                             : maker == GRAPH                                          ? MPI_GRAPH
                             : maker == ADJACENT || maker == ONE_TELLS_ALL             ? MPI_DIST_GRAPH
                             : maker == DUP || maker == IDUP || maker == DUP_WITH_INFO ? from.topology
                                                                                       : MPI_UNDEFINED;
  look_at(p, (uint64_t)p->slots[place].n * 100 + (uint64_t)p->slots[place].rank);
}

/* Also while calls on it are under way. */
void free_communicator(Program* p) {
  const int place = below(&p->draw, MOST_SLOTS);
  if (place >= FIXED_SLOTS && p->slots[place].used) note(p, "  slot %d", place), free_slot(&p->slots[place]);
}
