/* MPI_Allreduce with every predefined operation on every predefined type for which MPI allows it, of three ranks: each
 * element is what MPI_Reduce_local makes of the same ones, in some order. Knows nothing of Hocket but how many calls
 * were scheduled. Usage: reduce_types ; prints lines "TYPE OPERATION scheduled|native exact|by-order", exact where all
 * orders come to the same, and "ok <checks>" from rank 0. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

enum {
  INTEGERS = 1,
  FORTRAN_INTEGERS = 2,
  FLOATING = 4,
  LOGICAL = 8,
  COMPLEX = 16,
  BYTE = 32,
  SEVERAL = 64,
  PAIR = 128
};

struct type {
  int class;
  const char* name;
  MPI_Datatype mpi;
};
#define TYPE(class, name) {class, #name, name}
#define OPERATION(classes, name) {classes, #name, name}

static int rank;
static uint64_t (*scheduled_calls)(void);

enum { SOME = 8, RANKS = 3, COUNT = SOME * SOME * SOME, ORDERS = 12 };

/* Number `which` of SOME, at the ends of what `bytes` bytes can hold; of floating-point numbers also what is none. */
static void number(int floating, size_t bytes, int which, void* at) {
  const double real[SOME] = {0., -0., NAN, INFINITY, -INFINITY, 1.5, -3e38, 1e-45};
  const uint64_t top = UINT64_C(1) << (8 * bytes - 1);
  const uint64_t integers[SOME] = {0, 1, ~UINT64_C(0), top, top - 1, 0x6565656565656565, 2, top + 1};
  const float single = (float)real[which];
  const long double extended = real[which];
  if (!floating)
    memcpy(at, &integers[which], bytes);
  else if (bytes == sizeof single)
    memcpy(at, &single, bytes);
  else if (bytes == sizeof(double))
    memcpy(at, &real[which], bytes);
  else
    memcpy(at, &extended, 10);
}

/* An element is a number, two parts of a complex one, or a value and the place where it is. */
struct parts {
  int floating, complex, pair;
  size_t bytes, place; /* of the number; of the place, and of the second part */
};

static struct parts parts_of(const struct type* type) {
  int size;
  MPI_Type_size(type->mpi, &size);
  struct parts parts = {type->class == FLOATING, type->class == COMPLEX, type->class == PAIR, size, 0};
  if (parts.complex) parts.bytes = parts.place = size / 2;
  if (!parts.pair) return parts;
  const int two = type->mpi == MPI_2INT || type->mpi == MPI_2INTEGER || type->mpi == MPI_2REAL ||
                  type->mpi == MPI_2DOUBLE_PRECISION;
  parts.floating = strstr(type->name, "FLOAT") || strstr(type->name, "DOUBLE") || strstr(type->name, "REAL");
  parts.bytes = parts.place = two ? size / 2 : size - sizeof(int);
  if (type->mpi == MPI_SHORT_INT) parts.place = sizeof(int);
  return parts;
}

/* All that three ranks can have together: number i of rank `of`. */
static void fill(const struct type* type, char* at, size_t extent, int of) {
  const struct parts parts = parts_of(type);
  memset(at, 0, extent * COUNT);
  for (int i = 0; i < COUNT; ++i, at += extent) {
    const int which = (of == 0 ? i : of == 1 ? i / SOME : i / SOME / SOME) % SOME;
    if (type->class == LOGICAL) {
      at[0] = which % 2;
      continue;
    }
    number(parts.floating || parts.complex, parts.bytes, which, at);
    if (parts.complex) number(1, parts.bytes, (3 * which + 1) % SOME, at + parts.place);
    if (parts.pair && type->mpi == MPI_2DOUBLE_PRECISION)
      memcpy(at + parts.place, &(double){of}, sizeof(double));
    else if (parts.pair && type->mpi == MPI_2REAL)
      memcpy(at + parts.place, &(float){of}, sizeof(float));
    else if (parts.pair)
      memcpy(at + parts.place, &of, sizeof of);
  }
}

/* Makes all that are no numbers one: which of two is kept is nobody's business. */
static void make_one_nan(const struct parts* parts, char* at, size_t extent) {
  if (!parts->floating && !parts->complex) return;
  for (int i = 0; i < COUNT; ++i, at += extent)
    for (int part = 0; part <= parts->complex; ++part) {
      char* const of = at + part * parts->place;
      long double value;
      if (parts->bytes == sizeof(float))
        value = *(float*)of;
      else
        value = parts->bytes == sizeof(double) ? *(double*)of : *(long double*)of;
      if (isnan(value)) memset(of, 0xff, parts->bytes);
    }
}

static void try(const struct type* type, MPI_Op op, const char* name) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type->mpi, &lower, &extent);
  const struct parts parts = parts_of(type);
  char *of[RANKS], *wanted[ORDERS], *to = calloc(COUNT, extent), *two = malloc(COUNT * extent);
  for (int r = 0; r < RANKS; ++r) fill(type, of[r] = malloc(COUNT * extent), extent, r);
  for (int order = 0; order < ORDERS; ++order) {
    const int a = order % 3, b = (a + 1 + order / 3 % 2) % 3, c = 3 - a - b;
    char* const result = wanted[order] = malloc(COUNT * extent);
    memcpy(result, of[c], COUNT * extent);
    memcpy(two, of[b], COUNT * extent);
    if (order < ORDERS / 2) { /* (a b) c, or a (b c) */
      MPI_Reduce_local(of[a], two, COUNT, type->mpi, op);
      MPI_Reduce_local(two, result, COUNT, type->mpi, op);
    } else {
      MPI_Reduce_local(of[b], result, COUNT, type->mpi, op);
      MPI_Reduce_local(of[a], result, COUNT, type->mpi, op);
    }
    make_one_nan(&parts, result, extent);
  }
  const uint64_t before = scheduled_calls();
  check(MPI_Allreduce(of[rank], to, COUNT, type->mpi, op, MPI_COMM_WORLD) == MPI_SUCCESS);
  const int scheduled = scheduled_calls() > before;
  make_one_nan(&parts, to, extent);
  int wrong = 0, differ = 0;
  for (int i = 0; i < COUNT; ++i) {
    int like = 0;
    for (int order = 0; order < ORDERS; ++order) like += !memcmp(to + i * extent, wanted[order] + i * extent, extent);
    wrong += like == 0;
    differ += like < ORDERS;
  }
  check(!scheduled || wrong == 0);
  if (rank == 0)
    printf("%s %s %s %s\n", type->name + 4, name + 4, scheduled ? "scheduled" : "native",
           differ ? "by-order" : "exact");
  for (int r = 0; r < RANKS; ++r) free(of[r]);
  for (int order = 0; order < ORDERS; ++order) free(wanted[order]);
  free(to);
  free(two);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void* const runtime = dlopen(strchr(getenv("HOCKET_RUNTIME"), '/'), RTLD_NOW | RTLD_NOLOAD);
  *(void**)&scheduled_calls = runtime != NULL ? dlsym(runtime, "hocket_scheduled_calls") : NULL;
  if (scheduled_calls == NULL) return 2;
  const struct type types[] = {
      TYPE(INTEGERS, MPI_INT),
      TYPE(INTEGERS, MPI_LONG),
      TYPE(INTEGERS, MPI_SHORT),
      TYPE(INTEGERS, MPI_UNSIGNED_SHORT),
      TYPE(INTEGERS, MPI_UNSIGNED),
      TYPE(INTEGERS, MPI_UNSIGNED_LONG),
      TYPE(INTEGERS, MPI_LONG_LONG_INT),
      TYPE(INTEGERS, MPI_LONG_LONG),
      TYPE(INTEGERS, MPI_UNSIGNED_LONG_LONG),
      TYPE(INTEGERS, MPI_SIGNED_CHAR),
      TYPE(INTEGERS, MPI_UNSIGNED_CHAR),
      TYPE(INTEGERS, MPI_INT8_T),
      TYPE(INTEGERS, MPI_INT16_T),
      TYPE(INTEGERS, MPI_INT32_T),
      TYPE(INTEGERS, MPI_INT64_T),
      TYPE(INTEGERS, MPI_UINT8_T),
      TYPE(INTEGERS, MPI_UINT16_T),
      TYPE(INTEGERS, MPI_UINT32_T),
      TYPE(INTEGERS, MPI_UINT64_T),
      TYPE(FORTRAN_INTEGERS, MPI_INTEGER),
#ifdef MPI_INTEGER1
      TYPE(FORTRAN_INTEGERS, MPI_INTEGER1),
      TYPE(FORTRAN_INTEGERS, MPI_INTEGER2),
      TYPE(FORTRAN_INTEGERS, MPI_INTEGER4),
      TYPE(FORTRAN_INTEGERS, MPI_INTEGER8),
      TYPE(FLOATING, MPI_REAL4),
      TYPE(FLOATING, MPI_REAL8),
      TYPE(COMPLEX, MPI_COMPLEX8),
      TYPE(COMPLEX, MPI_COMPLEX16),
#endif
      TYPE(FLOATING, MPI_FLOAT),
      TYPE(FLOATING, MPI_DOUBLE),
      TYPE(FLOATING, MPI_REAL),
      TYPE(FLOATING, MPI_DOUBLE_PRECISION),
      TYPE(FLOATING, MPI_LONG_DOUBLE),
      TYPE(LOGICAL, MPI_LOGICAL),
      TYPE(LOGICAL, MPI_C_BOOL),
      TYPE(LOGICAL, MPI_CXX_BOOL),
      TYPE(COMPLEX, MPI_COMPLEX),
      TYPE(COMPLEX, MPI_DOUBLE_COMPLEX),
      TYPE(COMPLEX, MPI_C_COMPLEX),
      TYPE(COMPLEX, MPI_C_FLOAT_COMPLEX),
      TYPE(COMPLEX, MPI_C_DOUBLE_COMPLEX),
      TYPE(COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX),
      TYPE(COMPLEX, MPI_CXX_FLOAT_COMPLEX),
      TYPE(COMPLEX, MPI_CXX_DOUBLE_COMPLEX),
      TYPE(COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX),
      TYPE(BYTE, MPI_BYTE),
      TYPE(SEVERAL, MPI_AINT),
      TYPE(SEVERAL, MPI_OFFSET),
      TYPE(SEVERAL, MPI_COUNT),
      TYPE(PAIR, MPI_FLOAT_INT),
      TYPE(PAIR, MPI_DOUBLE_INT),
      TYPE(PAIR, MPI_LONG_INT),
      TYPE(PAIR, MPI_2INT),
      TYPE(PAIR, MPI_SHORT_INT),
      TYPE(PAIR, MPI_LONG_DOUBLE_INT),
      TYPE(PAIR, MPI_2REAL),
      TYPE(PAIR, MPI_2DOUBLE_PRECISION),
      TYPE(PAIR, MPI_2INTEGER),
  };
  enum {
    ORDER = INTEGERS | FORTRAN_INTEGERS | FLOATING | SEVERAL,
    BITS = INTEGERS | FORTRAN_INTEGERS | BYTE | SEVERAL
  };
  const struct {
    int classes;
    const char* name;
    MPI_Op op;
  } operations[] = {
      OPERATION(ORDER, MPI_MAX),
      OPERATION(ORDER, MPI_MIN),
      OPERATION(ORDER | COMPLEX, MPI_SUM),
      OPERATION(ORDER | COMPLEX, MPI_PROD),
      OPERATION(INTEGERS | LOGICAL, MPI_LAND),
      OPERATION(INTEGERS | LOGICAL, MPI_LOR),
      OPERATION(INTEGERS | LOGICAL, MPI_LXOR),
      OPERATION(BITS, MPI_BAND),
      OPERATION(BITS, MPI_BOR),
      OPERATION(BITS, MPI_BXOR),
      OPERATION(PAIR, MPI_MAXLOC),
      OPERATION(PAIR, MPI_MINLOC),
  };
  for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
    for (size_t o = 0; o < sizeof operations / sizeof *operations; ++o)
      if ((types[t].class & operations[o].classes) && types[t].mpi != MPI_DATATYPE_NULL)
        try(&types[t], operations[o].op, operations[o].name);
  return report();
}
