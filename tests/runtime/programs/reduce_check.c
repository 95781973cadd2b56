/* Calls MPI's reductions in many ways and compares every element with what MPI_Reduce_local makes of the same numbers
 * in the order of ranks. Knows nothing of Hocket.
 * Usage: reduce_check [each|sums] [counts...] ; prints "ok <checks>" from rank 0, exits 1 on a wrong element. Every
 * operation and every type comes up; with `each`, every operation with each of its types; with `sums`, sums alone. */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

/* How elements are made and compared. */
enum kind { INTEGER, FLOAT, DOUBLE, LONG_DOUBLE, COMPLEX, BOOL, DOUBLE_INT, TWO_INTS, MAP };
struct type {
  enum kind kind;
  size_t extent;
  MPI_Datatype mpi;
};
struct double_int {
  double value;
  int place;
};

enum { GUARD = 64 };

static unsigned number(int rank, size_t i, int salt) {
  return (unsigned)rank * 7919u + (unsigned)(i * 2654435761u >> 7) + (unsigned)salt * 104729u;
}

/* Elements of a rank, from its `first` on. */
static void fill(struct type type, void* at, int rank, size_t first, size_t count, int salt) {
  memset(at, 0, count * type.extent);
  for (size_t i = 0; i < count; ++i) {
    const unsigned some = number(rank, first + i, salt);
    void* element = (char*)at + i * type.extent;
    switch (type.kind) {
      case INTEGER: /* Open MPI 5 adds small ones with saturation */
        if (type.extent == 1)
          *(uint8_t*)element = some % 15;
        else if (type.extent == 2)
          *(uint16_t*)element = some % 4000;
        else
          for (size_t part = 0; part < type.extent / 4; ++part)
            ((uint32_t*)element)[part] = some * (unsigned)(5 + part);
        break;
      case FLOAT:
        *(float*)element = (float)(some % 2048) / 1000.0f + 0.5f;
        break;
      case DOUBLE:
        *(double*)element = (some % 4096) / 3000.0 + 0.5;
        break;
      case LONG_DOUBLE:
        *(long double*)element = (some % 4096) / 3000.0L + 0.5L;
        break;
      case COMPLEX:
        *(double complex*)element = (some % 100) / 77.0 + (some % 33) / 31.0 * I;
        break;
      case BOOL:
        *(bool*)element = some % 3 != 0;
        break;
      case DOUBLE_INT:
        *(struct double_int*)element = (struct double_int){some % 5, rank};
        break;
      case TWO_INTS:
        ((int*)element)[0] = (int)(some % 5);
        ((int*)element)[1] = rank;
        break;
      case MAP:
        ((int*)element)[0] = 1 + (int)(some % 9);
        ((int*)element)[1] = (int)(some % 10);
    }
  }
}

static int close_to(double a, double b) { return fabs(a - b) <= 1e-11 * (1 + fabs(a) + fabs(b)); }

/* Sums may round in another order. */
static int same_element(struct type type, const void* a, const void* b) {
  switch (type.kind) {
    case FLOAT:
      return fabsf(*(float*)a - *(float*)b) <= 1e-5f * (fabsf(*(float*)a) + fabsf(*(float*)b));
    case DOUBLE:
      return close_to(*(double*)a, *(double*)b);
    case LONG_DOUBLE:
      return close_to((double)*(long double*)a, (double)*(long double*)b);
    case COMPLEX:
      return close_to(creal(*(double complex*)a), creal(*(double complex*)b)) &&
             close_to(cimag(*(double complex*)a), cimag(*(double complex*)b));
    case DOUBLE_INT:
      return memcmp(a, b, sizeof(double)) == 0 && ((struct double_int*)a)->place == ((struct double_int*)b)->place;
    default:
      return memcmp(a, b, type.extent) == 0;
  }
}

static int wrong_elements(struct type type, const void* a, const void* b, size_t count) {
  int wrong = 0;
  for (size_t i = 0; i < count; ++i)
    wrong += !same_element(type, (const char*)a + i * type.extent, (const char*)b + i * type.extent);
  return wrong;
}

/* Elements of v0 op v1 op ... , from `first` on: MPI_Reduce_local puts its first argument to the left. */
static void* expected(struct type type, MPI_Op op, int ranks, size_t first, size_t count, int salt) {
  void *result = malloc(count * type.extent + 1), *more = malloc(count * type.extent + 1);
  fill(type, result, ranks - 1, first, count, salt);
  for (int rank = ranks - 2; rank >= 0; --rank) {
    fill(type, more, rank, first, count, salt);
    MPI_Reduce_local(more, result, (int)count, type.mpi, op);
  }
  free(more);
  return result;
}

/* Every rank must have the very same bytes. */
static void same_everywhere(const void* result, size_t bytes, MPI_Comm comm) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (rank == 0) {
    for (int to = 1; to < ranks; ++to) MPI_Send(result, (int)bytes, MPI_BYTE, to, 77, comm);
    return;
  }
  void* of_first = malloc(bytes + 1);
  MPI_Recv(of_first, (int)bytes, MPI_BYTE, 0, 77, comm, MPI_STATUS_IGNORE);
  check(memcmp(of_first, result, bytes) == 0);
  free(of_first);
}

static void guard(unsigned char* at) { memset(at, 0xAB, GUARD); }
static void check_guard(const unsigned char* at) {
  int wrong = 0;
  for (int i = 0; i < GUARD; ++i) wrong += at[i] != 0xAB;
  check(!wrong);
}

/* All reductions of `count` elements a rank or in all. */
static void reductions(struct type type, MPI_Op op, MPI_Comm comm, int count, int in_place, int salt) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int* counts = malloc(sizeof(int) * ranks);
  size_t uneven = 0, before = 0;
  for (int i = 0; i < ranks; ++i) {
    /* MPICH 5.0.2 fails in place where a block would overlap with the result. */
    counts[i] = i % 3 == 1 ? 0 : in_place ? count : (int)(((size_t)i * 37 + count) % (size_t)(2 * count + 1));
    if (i < rank) before += counts[i];
    uneven += counts[i];
  }
  size_t most = (size_t)count * ranks;
  if (uneven > most) most = uneven;
  unsigned char *from = malloc(most * type.extent + 1), *to = malloc(most * type.extent + GUARD);
  unsigned char* unchanged = malloc(most * type.extent + 1);
  fill(type, from, rank, 0, most, salt);
  memcpy(unchanged, from, most * type.extent);
  /* What all ranks get, this rank's block of equal ones, and its block of uneven ones. */
  void* all = expected(type, op, ranks, 0, count, salt);
  void* block = expected(type, op, ranks, (size_t)count * rank, count, salt);
  void* uneven_block = expected(type, op, ranks, before, counts[rank], salt);
  const void* given = in_place ? MPI_IN_PLACE : from;
#define PREPARE(elements)                                     \
  do {                                                        \
    guard(to + (elements) * type.extent);                     \
    memset(to, 0x5A, (elements) * type.extent);               \
    if (in_place) memcpy(to, from, (elements) * type.extent); \
  } while (0)

  PREPARE((size_t)count);
  check(MPI_Allreduce(given, to, count, type.mpi, op, comm) == MPI_SUCCESS);
  check(!wrong_elements(type, to, all, count));
  check_guard(to + (size_t)count * type.extent);
  if (type.kind != DOUBLE_INT) same_everywhere(to, (size_t)count * type.extent, comm); /* gaps are nobody's */

  PREPARE((size_t)count * ranks);
  check(MPI_Reduce_scatter_block(given, to, count, type.mpi, op, comm) == MPI_SUCCESS);
  check(!wrong_elements(type, to, block, count));
  check_guard(to + (size_t)count * ranks * type.extent);

  PREPARE(uneven);
  void* const result = counts[rank] == 0 && !in_place ? NULL : to; /* who gets nothing needs no memory for it */
  check(MPI_Reduce_scatter(given, result, counts, type.mpi, op, comm) == MPI_SUCCESS);
  check(!wrong_elements(type, to, uneven_block, counts[rank]));
  check_guard(to + uneven * type.extent);

  const int root = salt % ranks;
  PREPARE((size_t)count);
  check(MPI_Reduce(rank == root ? given : from, rank == root ? (void*)to : NULL, count, type.mpi, op, root, comm) ==
        MPI_SUCCESS);
  if (rank == root) check(!wrong_elements(type, to, all, count));
  check_guard(to + (size_t)count * type.extent);

  check(memcmp(from, unchanged, most * type.extent) == 0);
  free(from);
  free(to);
  free(unchanged);
  free(all);
  free(block);
  free(uneven_block);
  free(counts);
}

/* The same numbers have the same sum, bit by bit, however late ranks are. */
static void again(MPI_Comm comm, int count) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  double *from = malloc(sizeof(double) * count), *first = malloc(sizeof(double) * count);
  double* to = malloc(sizeof(double) * count);
  fill((struct type){DOUBLE, sizeof(double), MPI_DOUBLE}, from, rank, 0, count, 1);
  for (int round = 0; round < 8; ++round) {
    const double begin = MPI_Wtime();
    while (MPI_Wtime() < begin + 1e-4 * ((rank * 7 + round * 5) % 11)) {
    }
    MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, comm);
    if (round == 0) memcpy(first, to, sizeof(double) * count);
    check(memcmp(first, to, sizeof(double) * count) == 0);
  }
  free(from);
  free(first);
  free(to);
}

/* Of x -> a x + b modulo 251: inout = in after inout. Does not commute. */
static void compose(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  const int* left = in;
  int* right = inout;
  for (int i = 0; i < *length; ++i) {
    const int a = left[2 * i], b = left[2 * i + 1];
    right[2 * i + 1] = (a * right[2 * i + 1] + b) % 251;
    right[2 * i] = a * right[2 * i] % 251;
  }
}

static void add_modulo(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  const int* left = in;
  int* right = inout;
  for (int i = 0; i < 2 * *length; ++i) right[i] = (left[i] + right[i]) % 251;
}

static void own_operations(MPI_Comm comm, int count, int in_place, int salt) {
  MPI_Datatype pair;
  MPI_Op ordered, commutative;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(compose, 0, &ordered);
  MPI_Op_create(add_modulo, 1, &commutative);
  reductions((struct type){MAP, 2 * sizeof(int), pair}, ordered, comm, count, in_place, salt);
  reductions((struct type){MAP, 2 * sizeof(int), pair}, commutative, comm, count, in_place, salt + 1);
  MPI_Op_free(&ordered);
  MPI_Op_free(&commutative);
  MPI_Type_free(&pair);
}

/* Every predefined operation: on each of a few types, or on one of them in turn. */
static void all_operations(MPI_Comm comm, int count, int in_place, int salt, bool each) {
  const struct type integers[] = {
      {INTEGER, 1, MPI_INT8_T},   {INTEGER, 2, MPI_SHORT},    {INTEGER, 4, MPI_INT},
      {INTEGER, 8, MPI_LONG},     {INTEGER, 1, MPI_UINT8_T},  {INTEGER, 2, MPI_UNSIGNED_SHORT},
      {INTEGER, 4, MPI_UNSIGNED}, {INTEGER, 8, MPI_UINT64_T},
  };
  const MPI_Op on_integers[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_LAND,
                                MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
  const size_t kinds = sizeof integers / sizeof *integers;
  for (size_t t = 0; t < kinds; ++t)
    for (size_t o = 0; o < sizeof on_integers / sizeof *on_integers; ++o)
      if (each || t == (o + (size_t)in_place) % kinds)
        reductions(integers[t], on_integers[o], comm, count, in_place, salt++);
  const struct type floating[] = {{FLOAT, sizeof(float), MPI_FLOAT},
                                  {DOUBLE, sizeof(double), MPI_DOUBLE},
                                  {LONG_DOUBLE, sizeof(long double), MPI_LONG_DOUBLE}};
  const MPI_Op on_floating[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
  const size_t precisions = sizeof floating / sizeof *floating;
  for (size_t t = 0; t < precisions; ++t)
    for (size_t o = 0; o < sizeof on_floating / sizeof *on_floating; ++o)
      if (each || t == (o + (size_t)in_place) % precisions)
        reductions(floating[t], on_floating[o], comm, count, in_place, salt++);
  const struct type complex_double = {COMPLEX, sizeof(double complex), MPI_C_DOUBLE_COMPLEX};
  reductions(complex_double, MPI_SUM, comm, count, in_place, salt++);
  reductions(complex_double, MPI_PROD, comm, count, in_place, salt++);
  reductions((struct type){BOOL, sizeof(bool), MPI_C_BOOL}, MPI_LXOR, comm, count, in_place, salt++);
  reductions((struct type){INTEGER, 1, MPI_BYTE}, MPI_BXOR, comm, count, in_place, salt++);
  reductions((struct type){INTEGER, sizeof(MPI_Aint), MPI_AINT}, MPI_MAX, comm, count, in_place, salt++);
  const struct type pairs[] = {{DOUBLE_INT, sizeof(struct double_int), MPI_DOUBLE_INT},
                               {TWO_INTS, 2 * sizeof(int), MPI_2INT}};
  for (int t = 0; t < 2; ++t) {
    reductions(pairs[t], MPI_MAXLOC, comm, count, in_place, salt++);
    reductions(pairs[t], MPI_MINLOC, comm, count, in_place, salt++);
  }
  own_operations(comm, count, in_place, salt);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, n;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm half, reverse;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, n - rank, &reverse);
  MPI_Comm comms[] = {MPI_COMM_WORLD, half, reverse, MPI_COMM_SELF};
  static const int all[] = {0, 1, 2, 7, 1000, 20001};
  const bool each = argc > 1 && strcmp(argv[1], "each") == 0;
  const bool sums = argc > 1 && strcmp(argv[1], "sums") == 0;
  const int first = each || sums ? 2 : 1, sizes = argc > first ? argc - first : (int)(sizeof all / sizeof *all);
  const struct type whole = {INTEGER, sizeof(int), MPI_INT}, real = {DOUBLE, sizeof(double), MPI_DOUBLE};
  for (int c = 0; c < (int)(sizeof comms / sizeof *comms); ++c)
    for (int k = 0; k < sizes; ++k)
      for (int in_place = 0; in_place < 2; ++in_place) {
        const int count = argc > first ? atoi(argv[first + k]) : all[k], salt = c * 5 + k;
        reductions(whole, MPI_SUM, comms[c], count, in_place, salt);
        reductions(real, MPI_SUM, comms[c], count, in_place, salt);
      }
  again(MPI_COMM_WORLD, 20011);
  if (!sums) all_operations(MPI_COMM_WORLD, 1003, 0, 0, each);
  if (!sums) all_operations(MPI_COMM_WORLD, 20, 1, 5, each);
  MPI_Comm_free(&half);
  MPI_Comm_free(&reverse);
  return report();
}
