/* Rows of the grid of calls: what each is called, and which there are. */
#ifndef GRID_ROWS_H
#define GRID_ROWS_H
#include <mpi.h>
#include <stdio.h>

#include "calls.h"

enum { LONGEST_NAME = 100 };

/* Elements: of some there is one for each unit of a message, from SOLID on one for a message. */
enum kind { UNITS, BYTES, SPACED, EARLY, SOLID, EVERY_SECOND, SWAPPED, ROWS, COLUMNS, KINDS, BY_RANK, BY_BLOCK };

/* Elements of the two sides. All but the first lie back to front, with gaps, where a call can say so. */
#define LAYOUTS(X)                                   \
  X(dense, UNITS, UNITS, 0)                          \
  X(gaps, UNITS, UNITS, 0)                           \
  X(strided, EVERY_SECOND, EVERY_SECOND, 0)          \
  X(from_strided, EVERY_SECOND, SOLID, 0)            \
  X(to_strided, SOLID, EVERY_SECOND, 0)              \
  X(either, BY_RANK, BY_RANK, 0)                     \
  X(swapped, SWAPPED, UNITS, 0)                      \
  X(spaced, SPACED, SPACED, 0)                       \
  X(from_spaced, SPACED, BYTES, 0)                   \
  X(early, EARLY, BYTES, 0)                          \
  X(to_early, BYTES, EARLY, 0)                       \
  X(every_kind, BY_BLOCK, BY_BLOCK, 0)               \
  X(in_place, UNITS, UNITS, 1)                       \
  X(in_place_strided, EVERY_SECOND, EVERY_SECOND, 1) \
  X(in_place_spaced, SPACED, SPACED, 1)
enum layout { LAYOUTS(NUMBER_OF) ALL_LAYOUTS };
static const char* const layout_names[] = {LAYOUTS(WORD_OF)};
#define KINDS_OF(name, send, receive, place) {send, receive},
#define IN_PLACE_OF(name, send, receive, place) place,
static const enum kind kinds_of[][2] = {LAYOUTS(KINDS_OF)};
static const int in_place_of[] = {LAYOUTS(IN_PLACE_OF)};

/* Bytes of messages: all the same, all different, of some or most nothing. See `bytes_of`. */
#define SIZES(X) X(equal) X(different) X(sparse) X(one) X(but_one) X(nothing)
enum sizes { SIZES(NUMBER_OF) ALL_SIZES };
static const char* const sizes_names[] = {SIZES(WORD_OF)};

/* Communicators. From `edges` on with neighbours. See `made`. */
#define GROUPS(X) \
  X(world)        \
  X(half) X(reverse) X(copy) X(most) X(self) X(inter) X(edges) X(ring) X(grid) X(mesh) X(pairs) X(graph) X(arranged)
enum group { GROUPS(NUMBER_OF) ALL_GROUPS };
static const char* const group_names[] = {GROUPS(WORD_OF)};

#define WIDTHS(X) X(int) X(large)
static const char* const width_names[] = {WIDTHS(WORD_OF)};

struct row {
  enum call call;
  enum form form;
  int large;
  enum layout layout;
  enum sizes sizes;
  enum group group;
};

static inline int has_sizes(const struct row* r) { return is(r->call, SENDS | RECEIVES); }
static inline int is_typed(const struct row* r) { return is(r->call, TYPES); }
static inline int is_in_place(const struct row* r) { return in_place_of[r->layout]; }
static inline int is_whole(enum kind kind) { return (kind >= SOLID && kind < KINDS) || kind == BY_RANK; }

static inline int is_row(const struct row* r) {
  const enum kind* kinds = kinds_of[r->layout];
  const int neighbours = is(r->call, NEIGHBOURS);
  if ((r->large && !LARGE_COUNTS) || (r->form == persistent && !PERSISTENT_COLLECTIVES)) return 0;
  if (neighbours != (r->group >= edges)) return 0;
  if (r->group == inter && is(r->call, ROOTED | OPERATION)) return 0;
  if (is_in_place(r) && (neighbours || r->group == inter || is(r->call, ONE_BUFFER))) return 0;
  if (is(r->call, OPERATION) && r->layout != dense && r->layout != in_place) return 0;
  if (r->layout == every_kind && !is_typed(r)) return 0;
#ifdef OPEN_MPI /* 5.0 multiplies displacements of a rank alone by the extent */
  if (r->call == alltoallw && (r->group == self || r->group == most)) return 0;
#endif
  if (!has_sizes(r)) return r->sizes == equal && r->layout != gaps;
  /* Of one type for all messages. */
  if (!is_typed(r) && (is_whole(kinds[0]) || is_whole(kinds[1])) && (r->sizes == different || r->sizes == sparse))
    return 0;
  /* MPICH 5.0.2 fails in place where a block would overlap with the result. */
  return !(r->call == reduce_scatter && is_in_place(r) && (r->sizes == different || r->sizes == sparse));
}

static inline void name_of(const struct row* r, char* name) {
  snprintf(name, LONGEST_NAME, "%s/%s/%s/%s/%s/%s", call_names[r->call], form_names[r->form], width_names[r->large],
           layout_names[r->layout], sizes_names[r->sizes], group_names[r->group]);
}

/* Rows in the order of their forms; calls `of` on each. */
static inline void each_row(void (*of)(const struct row*, void*), void* context) {
  struct row r;
  for (r.form = 0; r.form < ALL_FORMS; ++r.form)
    for (r.large = 0; r.large < 2; ++r.large)
      for (r.group = 0; r.group < ALL_GROUPS; ++r.group)
        for (r.call = 0; r.call < ALL_CALLS; ++r.call)
          for (r.layout = 0; r.layout < ALL_LAYOUTS; ++r.layout)
            for (r.sizes = 0; r.sizes < ALL_SIZES; ++r.sizes)
              if (is_row(&r)) of(&r, context);
}

#endif
