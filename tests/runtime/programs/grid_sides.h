/* Both sides of a call of the grid: messages, elements and where they lie; filled, and compared. */
#ifndef GRID_SIDES_H
#define GRID_SIDES_H
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "grid_rows.h"

/* Of which all other communicators are made; MPI_COMM_WORLD unless a program does otherwise. */
static MPI_Comm base;

enum { MOST = 64, MARGIN = 32, FILLER = 0xAB, EVERYBODY = 1000 };

/* Block m of `blocks`: what this rank sends to, or gets from, peer[m]. */
struct side {
  int blocks, sends, peer[MOST], edge[MOST], bytes[MOST], counts[MOST], places[MOST];
  MPI_Aint at[MOST], far[MOST]; /* bytes; in elements where calls count so */
  MPI_Count large[MOST];
  MPI_Datatype types[MOST];
  size_t room;
  char* memory;
};

/* What is handed to a call, and may be gone when it has begun. */
struct given {
  int counts[MOST], places[MOST];
  MPI_Aint far[MOST];
  MPI_Count large[MOST];
  MPI_Datatype types[MOST];
};

struct job {
  struct row row;
  MPI_Comm comm;
  int rank, ranks, root, size, unit, salt;
  struct side send, receive;
  struct given given[2];
  MPI_Request request;
  MPI_Datatype others[2 * MOST];
  int other_types;
};

static inline unsigned mixed(unsigned a, unsigned b, unsigned c) {
  uint32_t hash = (a * 2654435761u ^ b) * 2246822519u ^ c;
  hash ^= hash >> 15;
  hash *= 2654435761u;
  return hash ^ hash >> 13;
}

/* Bytes over the edge-th edge between two ranks, which all know. What goes to EVERYBODY depends on its sender, what
 * a root scatters on its receiver. */
static inline int bytes_of(const struct job* j, int from, int to, int edge) {
  const struct row* r = &j->row;
  if (is(r->call, ROOTED) && !is(r->call, SAME)) from = to, to = EVERYBODY;
  if (is_in_place(r) && to != EVERYBODY && from > to) return bytes_of(j, to, from, edge);
  const int one_sided = to == EVERYBODY, middle = j->ranks / 2;
  const unsigned lot = mixed((unsigned)from, (unsigned)(to + 64 * edge), (unsigned)j->salt);
  const int any = j->size == 0 ? 0 : j->unit * (1 + (int)(lot >> 3) % (j->size / j->unit));
  if (from == MPI_PROC_NULL || to == MPI_PROC_NULL) return j->size;
  switch (r->sizes) {
    case equal:
      return j->size;
    case different:
      return any;
    case sparse:
      return (one_sided ? from % 3 == 1 : lot % 3 != 0) ? 0 : any;
    case one:
      return (one_sided ? from : to) == middle ? j->size : 0;
    case but_one:
      return (one_sided ? from == 0 : from % 2 == 0 || to == 0) ? 0 : j->size;
    default:
      return 0;
  }
}

static inline unsigned char value(int from, int to, int edge, int i, int salt) {
  return (unsigned char)((unsigned)from * 101u + (unsigned)to * 59u + (unsigned)edge * 43u + (unsigned)i * 7u +
                         ((unsigned)i >> 8) * 13u + (unsigned)salt * 37u + 1u);
}

/* Numbers that are reduced. */
static inline unsigned number(int of, int i, int salt) {
  return (unsigned)of * 1000003u + (unsigned)i * 31u + (unsigned)salt * 7919u;
}

static inline MPI_Datatype type_of(enum kind kind, int bytes, int unit) {
  const MPI_Datatype of = unit == 4 ? MPI_INT : unit == 2 ? MPI_SHORT : MPI_BYTE;
  const int units = bytes > 0 ? bytes / unit : 1, half = units / 2;
  MPI_Datatype type, inner;
  if ((kind == ROWS || kind == COLUMNS) && units % 4 != 0) kind = EVERY_SECOND;
  switch (kind) {
    case UNITS:
      return of;
    case BYTES:
      MPI_Type_contiguous(1, MPI_BYTE, &type);
      break;
    case SPACED: /* every second */
      MPI_Type_create_resized(of, 0, 2 * unit, &type);
      break;
    case EARLY: /* begins before its address */
      MPI_Type_create_resized(of, -2 * unit, 3 * unit, &type);
      break;
    case SOLID:
      MPI_Type_contiguous(units, of, &type);
      break;
    case EVERY_SECOND:
      MPI_Type_vector(units, 1, 2, of, &inner);
      MPI_Type_create_resized(inner, 0, (MPI_Aint)2 * units * unit, &type);
      MPI_Type_free(&inner);
      break;
    case SWAPPED: { /* of the extent and size of dense ones, the second half first */
      const int lengths[2] = {half, units - half}, places[2] = {units - half, 0};
      MPI_Type_indexed(2, lengths, places, of, &type);
      break;
    }
    case ROWS: { /* in the middle: one piece */
      const int sizes[2] = {units / 4 + 2, 4}, parts[2] = {units / 4, 4}, starts[2] = {1, 0};
      MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, of, &type);
      break;
    }
    default: { /* columns in the middle, as Fortran has them, of pairs */
      const int sizes[2] = {units / 4 + 1, 3}, parts[2] = {units / 4, 2}, starts[2] = {1, 1};
      MPI_Type_contiguous(2, of, &inner);
      MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, inner, &type);
      MPI_Type_free(&inner);
    }
  }
  MPI_Type_commit(&type);
  return type;
}

static inline int is_predefined(MPI_Datatype type) { return type == MPI_INT || type == MPI_SHORT || type == MPI_BYTE; }
static inline void free_type(MPI_Datatype* type) {
  if (!is_predefined(*type)) MPI_Type_free(type);
}

static inline enum kind kind_of(const struct job* j, const struct side* s, int m) {
  const enum kind kind = kinds_of[j->row.layout][!s->sends];
  if (kind == BY_RANK) return j->rank % 2 == 0 || j->rank == j->root ? EVERY_SECOND : SOLID;
  if (kind != BY_BLOCK) return kind;
  return s->bytes[m] > 0 ? (enum kind)((m * 5 + j->salt + 2 * s->sends) % KINDS) : BYTES;
}

/* Ranks between which block m of a side goes: what all get goes to EVERYBODY. */
static inline int from_of(const struct job* j, const struct side* s, int m) { return s->sends ? j->rank : s->peer[m]; }
static inline int to_of(const struct job* j, const struct side* s, int m) {
  if (is(j->row.call, SAME | ONE_BUFFER | OPERATION)) return EVERYBODY;
  return s->sends ? s->peer[m] : j->rank;
}

/* A side with a message for each of these peers. */
static inline void lay_out(struct job* j, struct side* s, int sends, int blocks, const int* peers) {
  const struct row* r = &j->row;
  const int each = is(r->call, sends ? SENDS : RECEIVES), backwards = each && r->layout != dense;
  s->sends = sends, s->blocks = blocks, s->room = MARGIN;
  for (int m = 0; m < blocks; ++m) {
    s->peer[m] = peers[m], s->edge[m] = 0;
    for (int k = 0; k < m && r->group != pairs && peers[m] != EVERYBODY; ++k) s->edge[m] += peers[k] == peers[m];
    if (is(r->call, SAME)) s->edge[m] = 0;
    s->bytes[m] = bytes_of(j, from_of(j, s, m), to_of(j, s, m), s->edge[m]);
  }
  for (int k = 0; k < blocks; ++k) {
    const int m = backwards ? blocks - 1 - k : k;
    const enum kind kind = kind_of(j, s, m);
    s->types[m] = type_of(kind, is_typed(r) ? s->bytes[m] : j->size, j->unit);
    s->counts[m] = is_whole(kind) ? s->bytes[m] > 0 : kind == BYTES ? s->bytes[m] : s->bytes[m] / j->unit;
    MPI_Aint lower, extent;
    MPI_Type_get_extent(s->types[m], &lower, &extent);
    const MPI_Aint counted = each && !is_typed(r) ? extent : 1;
    if (k == 0 || each) s->room = (s->room + (size_t)extent - 1) / (size_t)extent * (size_t)extent;
    s->at[m] = (MPI_Aint)s->room;
    s->far[m] = s->at[m] / counted;
    /* Empty ones are nowhere. */
    s->places[m] = r->call == alltoallv && s->bytes[m] == 0 && backwards ? INT_MAX : (int)s->far[m];
    s->large[m] = s->counts[m];
    s->room += (size_t)(extent * s->counts[m] + (backwards ? 3 * extent : 0));
  }
  s->room += MARGIN;
  s->memory = malloc(s->room);
}

/* What each rank gets of a reduction, in bytes, and what it adds to it: `before` it, and in all. */
static inline int result_of(const struct job* j, int of) {
  return j->row.call == reduce_scatter ? bytes_of(j, of, EVERYBODY, 0) : j->size;
}
static inline int result_before(const struct job* j, int of) {
  int before = 0;
  for (int r = 0; r < of; ++r) before += result_of(j, r);
  return before;
}
static inline int contribution_of(const struct job* j) {
  const int scatters = j->row.call == reduce_scatter || j->row.call == reduce_scatter_block;
  return scatters ? result_before(j, j->ranks) : j->size;
}

static inline void lay_out_reduction(struct job* j) {
  for (int sends = 0; sends < 2; ++sends) {
    struct side* s = sends ? &j->send : &j->receive;
    const int bytes = sends || is_in_place(&j->row) ? contribution_of(j) : result_of(j, j->rank);
    *s = (struct side){.blocks = 1, .sends = sends, .peer = {EVERYBODY}, .at = {MARGIN}, .types = {MPI_INT}};
    s->room = 2 * MARGIN + (size_t)bytes;
    s->memory = malloc(s->room);
    s->bytes[0] = sends ? bytes : result_of(j, j->rank);
    s->counts[0] = (j->row.call == reduce_scatter_block || !sends ? result_of(j, j->rank) : bytes) / 4;
  }
  if (j->row.call == reduce_scatter)
    for (int r = 0; r < j->ranks; ++r) j->receive.counts[r] = result_of(j, r) / 4;
  for (int r = 0; r < j->ranks; ++r) j->receive.large[r] = j->receive.counts[r], j->send.large[r] = j->send.counts[r];
}

/* A block as a correct call leaves it on this side. */
static inline void fill_block(const struct side* s, int m, int from, int to, char* memory, int salt) {
  unsigned char* packed = malloc((size_t)s->bytes[m] + 1);
  int position = 0;
  for (int i = 0; i < s->bytes[m]; ++i) packed[i] = value(from, to, s->edge[m], i, salt);
  if (s->bytes[m] > 0) MPI_Unpack(packed, s->bytes[m], &position, memory + s->at[m], s->counts[m], s->types[m], base);
  free(packed);
}

static inline void fill_numbers(const struct job* j, char* memory, int salt) {
  unsigned* at = (unsigned*)(memory + MARGIN);
  for (int i = 0; i < contribution_of(j) / 4; ++i) at[i] = number(j->rank, i, salt);
}

static inline void fill_sums(const struct job* j, char* memory, int salt) {
  unsigned* at = (unsigned*)(memory + MARGIN);
  const int scatters = j->row.call == reduce_scatter || j->row.call == reduce_scatter_block;
  const int first = scatters ? result_before(j, j->rank) / 4 : 0;
  for (int i = 0; i < result_of(j, j->rank) / 4; ++i) {
    at[i] = 0;
    for (int r = 0; r < j->ranks; ++r) at[i] += number(r, first + i, salt);
  }
}

/* A side as it is after a correct call. */
static inline void fill(const struct job* j, const struct side* s, char* memory, int salt) {
  memset(memory, FILLER, s->room);
  if (is(j->row.call, OPERATION)) {
    if (s->blocks > 0) (s->sends ? fill_numbers : fill_sums)(j, memory, salt);
    return;
  }
  for (int m = 0; m < s->blocks; ++m)
    if (s->peer[m] != MPI_PROC_NULL) fill_block(s, m, from_of(j, s, m), to_of(j, s, m), memory, salt);
}

/* Both sides as they are before a call. In place, what is sent lies where what comes will be. */
static inline void prepare(struct job* j, int salt) {
  struct side* in = &j->receive;
  fill(j, &j->send, j->send.memory, salt);
  memset(in->memory, FILLER, in->room);
  if (!is_in_place(&j->row)) return;
  if (is(j->row.call, OPERATION)) {
    if (in->blocks > 0) fill_numbers(j, in->memory, salt);
    return;
  }
  for (int m = 0; m < in->blocks; ++m) {
    if (!is(j->row.call, SAME | ROOTED)) fill_block(in, m, j->rank, in->peer[m], in->memory, salt);
    if (is(j->row.call, SAME) && in->peer[m] == j->rank) fill_block(in, m, j->rank, EVERYBODY, in->memory, salt);
  }
}

static inline void compare(const struct job* j, const struct side* s, int salt) {
  char *expected = malloc(s->room), name[LONGEST_NAME];
  fill(j, s, expected, salt);
  size_t compared = s->room;
  if (is(j->row.call, OPERATION) && is_in_place(&j->row) && !s->sends) { /* the rest of it is nobody's */
    compared = MARGIN + (size_t)s->bytes[0];
    for (size_t i = s->room - MARGIN; i < s->room; ++i) check((unsigned char)s->memory[i] == FILLER);
  }
  const int same = memcmp(expected, s->memory, compared) == 0;
  check(same);
  name_of(&j->row, name);
  if (!same && errors <= 5)
    fprintf(stderr, "rank %d: %s of %s, %d bytes, root %d\n", j->rank, s->sends ? "sent" : "got", name, j->size,
            j->root);
  free(expected);
}

static inline int is_at_root(const struct job* j) { return !is(j->row.call, ROOTED) || j->rank == j->root; }

/* Sides that this rank has in the call; a side without blocks is none. */
static inline void lay_out_sides(struct job* j, int ins, const int* sources, int outs, const int* destinations) {
  const enum call call = j->row.call;
  const int everybody[1] = {EVERYBODY}, root[1] = {j->root};
  if (is(call, OPERATION)) {
    lay_out_reduction(j);
    if (!is_at_root(j)) j->receive.blocks = 0;
  } else if (is(call, ONE_BUFFER)) {
    lay_out(j, &j->send, 1, is_at_root(j), everybody);
    lay_out(j, &j->receive, 0, !is_at_root(j), root);
  } else if (is(call, SAME)) {
    lay_out(j, &j->send, 1, 1, everybody);
    lay_out(j, &j->receive, 0, is_at_root(j) ? ins : 0, sources);
  } else if (is(call, ROOTED)) {
    lay_out(j, &j->send, 1, is_at_root(j) ? outs : 0, destinations);
    lay_out(j, &j->receive, 0, !(is_in_place(&j->row) && is_at_root(j)), root);
  } else {
    lay_out(j, &j->send, 1, outs, destinations);
    lay_out(j, &j->receive, 0, ins, sources);
  }
}

static inline void drop_others(struct job* j) {
  while (j->other_types > 0) MPI_Type_free(&j->others[--j->other_types]);
}

static inline void drop(struct job* j) {
  struct side* sides[2] = {&j->send, &j->receive};
  drop_others(j);
  for (int i = 0; i < 2; ++i) {
    for (int m = 0; m < sides[i]->blocks; ++m) free_type(&sides[i]->types[m]);
    free(sides[i]->memory);
  }
}

#endif
