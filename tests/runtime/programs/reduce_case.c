/* One MPI_Allreduce, or the like, whose result is known. Knows nothing of Hocket.
 * Usage: reduce_case CASE ; prints "ok <checks>" from rank 0, exits 1 on a wrong element. */
#include <complex.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

enum { COUNT = 50000 };

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

int main(int argc, char** argv) {
  int provided, rank, n;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const char* name = argc > 1 ? argv[1] : "";
  const int ranks_sum = n * (n - 1) / 2;
  int count = strcmp(name, "count") == 0 ? n - 1 : COUNT, wrong = 0;
  struct {
    int value, place;
  }* pairs = malloc(sizeof *pairs * COUNT);
  int *from = malloc(sizeof(int) * COUNT), *to = malloc(sizeof(int) * COUNT);
  for (int i = 0; i < COUNT; ++i) from[i] = i + rank;
  MPI_Op op = MPI_SUM;
  if (strcmp(name, "commutative") == 0 || strcmp(name, "later") == 0) MPI_Op_create(add, 1, &op);
  if (strcmp(name, "ordered") == 0) MPI_Op_create(add, 0, &op);
  if (strcmp(name, "sum-double") == 0) {
    double *reals = malloc(sizeof(double) * COUNT), *sums = malloc(sizeof(double) * COUNT);
    for (int i = 0; i < COUNT; ++i) reals[i] = i + rank;
    MPI_Allreduce(reals, sums, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; ++i) wrong += sums[i] != (double)n * i + ranks_sum;
    free(reals);
    free(sums);
  } else if (strcmp(name, "complex") == 0) {
    double complex *numbers = malloc(sizeof(double complex) * COUNT), *sums = malloc(sizeof(double complex) * COUNT);
    for (int i = 0; i < COUNT; ++i) numbers[i] = i + rank * I;
    MPI_Allreduce(numbers, sums, COUNT, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; ++i) wrong += sums[i] != (double)n * i + ranks_sum * I;
    free(numbers);
    free(sums);
  } else if (strcmp(name, "minloc") == 0) {
    for (int i = 0; i < COUNT; ++i) {
      pairs[i].value = abs(i % n - rank);
      pairs[i].place = rank;
    }
    MPI_Allreduce(MPI_IN_PLACE, pairs, COUNT, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; ++i) wrong += pairs[i].value != 0 || pairs[i].place != i % n;
  } else if (strcmp(name, "land") == 0) {
    for (int i = 0; i < COUNT; ++i) from[i] = i % (n + 1) != rank;
    MPI_Allreduce(from, to, COUNT, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; ++i) wrong += to[i] != (i % (n + 1) == n);
  } else {
    MPI_Request request;
    if (strcmp(name, "later") == 0) {
      MPI_Allreduce_init(from, to, count, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
    } else {
      MPI_Allreduce(from, to, count, MPI_INT, op, MPI_COMM_WORLD);
    }
    for (int i = 0; i < count; ++i) wrong += to[i] != n * i + ranks_sum;
  }
  check(!wrong);
  if (op != MPI_SUM) MPI_Op_free(&op);
  free(pairs);
  free(from);
  free(to);
  return report();
}
