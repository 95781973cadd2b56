/* The calls whose sizes all ranks know, with elements of 1, 2, 4, 12, 16 bytes and counts that no number of ranks
 * divides: every element checked. Sums are exact, in whichever order they are made. Knows nothing of Hocket.
 * Usage: two_levels [counts...] ; prints "ok <checks>" from rank 0, exits 1 on a wrong element. */
#include <complex.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

enum { TYPES = 6 };

static int rank, n;
static MPI_Datatype three_ints;
static MPI_Op add_threes;

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < 3 * *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

/* What rank `from` has for element i; of sums of one byte none is larger than 127. */
static int value(int from, int i, int salt) { return (from % 3 + i + salt) % 3; }

static int sum(int i, int salt) {
  int all = 0;
  for (int from = 0; from < n; ++from) all += value(from, i, salt);
  return all;
}

static void put(int type, void* at, int i, int number) {
  switch (type) {
    case 0:
      ((signed char*)at)[i] = (signed char)number;
      break;
    case 1:
      ((short*)at)[i] = (short)number;
      break;
    case 2:
      ((int*)at)[i] = number;
      break;
    case 3:
      for (int k = 0; k < 3; ++k) ((int*)at)[3 * i + k] = number * (k + 1);
      break;
    case 4:
      ((double complex*)at)[i] = number + 2 * number * I;
      break;
    default:
      ((double*)at)[i] = number;
  }
}

static const size_t extents[TYPES] = {
    1, sizeof(short), sizeof(int), 3 * sizeof(int), sizeof(double complex), sizeof(double)};

/* Elements `first` to `first` + `count` − 1 of what a rank has, or of the sum of all (from < 0). */
static char* made(int type, int from, int first, int count, int salt) {
  char* at = malloc((size_t)count * extents[type] + 1);
  for (int i = 0; i < count; ++i) put(type, at, i, from < 0 ? sum(first + i, salt) : value(from, first + i, salt));
  return at;
}

static void expect(const char* got, char* wanted, size_t bytes) {
  check(memcmp(got, wanted, bytes) == 0);
  free(wanted);
}

static void calls(int type, MPI_Datatype mpi, MPI_Op op, int count, int salt) {
  const size_t extent = extents[type];
  int *counts = malloc(sizeof(int) * n), *places = malloc(sizeof(int) * n), uneven = 0;
  for (int i = 0; i < n; ++i) {
    counts[i] = i % 3 == 1 ? 0 : count + i % 2;
    places[i] = uneven;
    uneven += counts[i];
  }
  const int most = uneven > count * n ? uneven : count * n;
  char *from = made(type, rank, 0, most, salt), *to = malloc((size_t)most * extent + 1);

  MPI_Allreduce(from, to, count, mpi, op, MPI_COMM_WORLD);
  expect(to, made(type, -1, 0, count, salt), count * extent);
  memcpy(to, from, count * extent);
  MPI_Allreduce(MPI_IN_PLACE, to, count, mpi, op, MPI_COMM_WORLD);
  expect(to, made(type, -1, 0, count, salt), count * extent);
  MPI_Reduce_scatter_block(from, to, count, mpi, op, MPI_COMM_WORLD);
  expect(to, made(type, -1, count * rank, count, salt), count * extent);
  MPI_Reduce_scatter(from, to, counts, mpi, op, MPI_COMM_WORLD);
  expect(to, made(type, -1, places[rank], counts[rank], salt), counts[rank] * extent);
  const int root = salt % n;
  MPI_Reduce(from, to, count, mpi, op, root, MPI_COMM_WORLD);
  if (rank == root) expect(to, made(type, -1, 0, count, salt), count * extent);

  MPI_Allgather(from, count, mpi, to, count, mpi, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) expect(to + i * count * extent, made(type, i, 0, count, salt), count * extent);
  MPI_Allgatherv(from, counts[rank], mpi, to, counts, places, mpi, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) expect(to + places[i] * extent, made(type, i, 0, counts[i], salt), counts[i] * extent);
  MPI_Alltoall(from, count, mpi, to, count, mpi, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) expect(to + i * count * extent, made(type, i, count * rank, count, salt), count * extent);
  if (rank == root) memcpy(to, from, count * extent);
  MPI_Bcast(to, count, mpi, root, MPI_COMM_WORLD);
  expect(to, made(type, root, 0, count, salt), count * extent);

  free(counts);
  free(places);
  free(from);
  free(to);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Type_contiguous(3, MPI_INT, &three_ints);
  MPI_Type_commit(&three_ints);
  MPI_Op_create(add, 1, &add_threes);
  const MPI_Datatype types[TYPES] = {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, three_ints, MPI_C_DOUBLE_COMPLEX, MPI_DOUBLE};
  const int usual[] = {n - 1, n, n + 1, 1009};
  const int sizes = argc > 1 ? argc - 1 : 4;
  for (int k = 0; k < sizes; ++k)
    for (int type = 0; type < TYPES; ++type)
      calls(type, types[type], types[type] == three_ints ? add_threes : MPI_SUM,
            argc > 1 ? atoi(argv[k + 1]) : usual[k], k * TYPES + type);
  MPI_Op_free(&add_threes);
  MPI_Type_free(&three_ints);
  return report();
}
