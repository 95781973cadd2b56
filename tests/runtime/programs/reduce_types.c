/* MPI_Allreduce with every predefined operation on every predefined type for which MPI allows it, each element compared
 * with what MPI_Reduce_local makes of the same ones. Knows nothing of Hocket but how many calls were scheduled.
 * Usage: reduce_types ; prints lines "TYPE OPERATION scheduled|native" and "ok <checks>" from rank 0. */
#define _GNU_SOURCE
#include <dlfcn.h>
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

static int rank, ranks;
static uint64_t (*scheduled_calls)(void);

/* Small numbers, other ones on every rank, of any type: bytes of 1 or 2 where it has no numbers of its own. */
static void fill(const struct type* type, char* at, size_t extent, int count, int of) {
  memset(at, 0, extent * count);
  int size;
  MPI_Type_size(type->mpi, &size);
  for (int i = 0; i < count; ++i) {
    char* element = at + i * extent;
    const int some = 1 + (i + of) % 3, parts = type->class == COMPLEX ? 2 : 1;
    if (type->class == FLOATING || type->class == COMPLEX)
      for (int part = 0; part < parts; ++part) {
        if (size / parts == sizeof(float))
          ((float*)element)[part] = some + part;
        else if (size / parts == sizeof(double))
          ((double*)element)[part] = some + part;
        else
          ((long double*)element)[part] = some + part;
      }
    else if (type->class == LOGICAL)
      element[0] = (i + of) % 2;
    else if (type->class == PAIR && (type->mpi == MPI_FLOAT_INT || type->mpi == MPI_2REAL))
      ((float*)element)[0] = some,
      type->mpi == MPI_2REAL ? (void)(((float*)element)[1] = of) : (void)(((int*)element)[1] = of);
    else if (type->class == PAIR && (type->mpi == MPI_DOUBLE_INT || type->mpi == MPI_2DOUBLE_PRECISION))
      ((double*)element)[0] = some;
    else if (type->class == PAIR && type->mpi == MPI_LONG_DOUBLE_INT)
      ((long double*)element)[0] = some;
    else
      element[0] = (char)some;
  }
}

static void try(const struct type* type, MPI_Op op, const char* name) {
  const int count = 4 * ranks;
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type->mpi, &lower, &extent);
  char *from = malloc(extent * count), *to = malloc(extent * count), *wanted = malloc(extent * count);
  fill(type, from, extent, count, rank);
  memset(to, 0, extent * count);
  fill(type, wanted, extent, count, ranks - 1);
  char* more = malloc(extent * count);
  for (int of = ranks - 2; of >= 0; --of) {
    fill(type, more, extent, count, of);
    MPI_Reduce_local(more, wanted, count, type->mpi, op);
  }
  const uint64_t before = scheduled_calls();
  check(MPI_Allreduce(from, to, count, type->mpi, op, MPI_COMM_WORLD) == MPI_SUCCESS);
  const int scheduled = scheduled_calls() > before;
  check(memcmp(to, wanted, extent * count) == 0);
  if (rank == 0) printf("%s %s %s\n", type->name + 4, name + 4, scheduled ? "scheduled" : "native");
  free(from);
  free(to);
  free(wanted);
  free(more);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  void* const runtime = dlopen(getenv("HOCKET_RUNTIME"), RTLD_NOW | RTLD_NOLOAD);
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
