#include "types.h"

#include <stddef.h>
#include <stdlib.h>

/* An int and a double, in different places: the same signature each time. */
static MPI_Datatype draw_pair(Work* w, Draw* draw) {
  static const MPI_Aint places[][3] = {{0, 8, 16}, {0, 4, 12}, {16, 0, 24}, {4, 16, 32}, {-8, 0, 16}};
  const MPI_Aint* place = places[below(draw, 5)];
  const int lengths[2] = {1, 1};
  const MPI_Datatype members[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype loose, type;
  MPI_Type_create_struct(2, lengths, place, members, &loose);
  MPI_Type_create_resized(loose, place[0] < 0 ? -8 : 0, place[2], &type);
  MPI_Type_free(&loose);
  return own_type(w, type);
}

static MPI_Datatype element_type(Work* w, Draw* draw, Element element) {
  const MPI_Datatype types[] = {MPI_BYTE, MPI_CHAR, MPI_SHORT, MPI_INT, MPI_FLOAT, MPI_DOUBLE, MPI_INT64_T, MPI_2INT};
  return element == PAIR ? draw_pair(w, draw) : types[element];
}

/* Places for blocks of `length` elements in random order, with gaps. */
static void draw_places(Draw* draw, int blocks, int length, int* places) {
  int order[64], at = 0;
  shuffled(draw, blocks, order);
  for (int i = 0; i < blocks; ++i) {
    places[order[i]] = at;
    at += length + below(draw, 3);
  }
}

static MPI_Datatype resized(MPI_Datatype type, MPI_Aint before, MPI_Aint after) {
  MPI_Aint lower, extent;
  MPI_Datatype wider;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_create_resized(type, lower - before, extent + before + after, &wider);
  MPI_Type_free(&type);
  return wider;
}

enum {
  CONTIGUOUS,
  DUPLICATE,
  VECTOR,
  HVECTOR,
  INDEXED,
  HINDEXED,
  BLOCKS,
  STRUCT,
  BACKWARDS,
  SUBARRAY,
  RESIZED,
  LAYOUTS
};

/* `n` elements, at most 64 of them. */
static MPI_Datatype draw_layout(Draw* draw, MPI_Datatype element, int n) {
  MPI_Datatype type, inner;
  MPI_Aint lower, extent, bytes[64];
  int places[64], lengths[64];
  const int length = n % 2 == 0 && chance(draw, 50) ? 2 : n % 3 == 0 && chance(draw, 50) ? 3 : 1;
  const int blocks = n / length;
  MPI_Type_get_extent(element, &lower, &extent);
  draw_places(draw, blocks, length, places);
  for (int i = 0; i < blocks; ++i) bytes[i] = places[i] * extent, lengths[i] = length;
  switch (below(draw, LAYOUTS)) {
    case DUPLICATE:
      MPI_Type_contiguous(n, element, &inner);
      MPI_Type_dup(inner, &type);
      MPI_Type_free(&inner);
      return type;
    case VECTOR:
      MPI_Type_vector(blocks, length, length + below(draw, 3), element, &type);
      return type;
    case HVECTOR:
      MPI_Type_create_hvector(blocks, length, extent * (length + 1) + 8 * below(draw, 2), element, &type);
      return type;
    case INDEXED:
      MPI_Type_indexed(blocks, lengths, places, element, &type);
      return type;
    case HINDEXED:
      MPI_Type_create_hindexed(blocks, lengths, bytes, element, &type);
      return type;
    case BLOCKS:
      MPI_Type_create_indexed_block(blocks, length, places, element, &type);
      return type;
    case STRUCT: {
      MPI_Datatype members[64];
      for (int i = 0; i < blocks; ++i) members[i] = element;
      MPI_Type_create_struct(blocks, lengths, bytes, members, &type);
      return type;
    }
    case BACKWARDS:
      MPI_Type_vector(blocks, length, -(length + below(draw, 3)), element, &type);
      return type;
    case SUBARRAY: {
      const int sizes[2] = {blocks + 2, length + 1}, parts[2] = {blocks, length}, starts[2] = {1, below(draw, 2)};
      MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, element, &type);
      return type;
    }
    case RESIZED:
      MPI_Type_contiguous(n, element, &type);
      return resized(type, extent * below(draw, 2), extent * below(draw, 3));
    default:
      MPI_Type_contiguous(n, element, &type);
      return type;
  }
}

MPI_Datatype draw_type(Work* w, Draw* draw, Element element, int elements, int column) {
  const MPI_Datatype one = element_type(w, draw, element);
  MPI_Datatype type;
  if (elements == 1 && chance(draw, 80)) return one;
  if (column > 0 && element != PAIR && chance(draw, 15)) {
    MPI_Aint lower, extent;
    MPI_Datatype apart;
    MPI_Type_get_extent(one, &lower, &extent);
    MPI_Type_vector(elements, 1, column, one, &apart);
    MPI_Type_create_resized(apart, 0, extent, &type);
    MPI_Type_free(&apart);
    return own_type(w, type);
  }
  if (elements % 4 == 0 && chance(draw, 25)) {
    const MPI_Datatype inner = own_type(w, draw_layout(draw, one, elements / 2));
    return own_type(w, draw_layout(draw, inner, 2));
  }
  return own_type(w, draw_layout(draw, one, elements));
}

void span(MPI_Datatype type, MPI_Aint count, MPI_Aint* from, MPI_Aint* to) {
  MPI_Aint lower, extent, begin, length;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &begin, &length);
  *from = begin;
  *to = count > 0 ? begin + (count - 1) * extent + length : begin;
}
