/* Sorts numbers that all ranks draw. mpicc sort.c $(hocket info --sort) -o sort; mpiexec -n 4 ./sort */
#include <hocket_sort.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 250000 };

static double numbers[COUNT];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  srand(rank + 1);
  for (int i = 0; i < COUNT; ++i) numbers[i] = rand() / (double)RAND_MAX;

  hocket_sorted* sorted = NULL;
  const int code = hocket_sort(MPI_COMM_WORLD, NULL, HOCKET_F64, COUNT, numbers, 0, NULL, &sorted);
  if (code != HOCKET_SUCCESS) {
    fprintf(stderr, "%s\n", hocket_error_string(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const double* const keys = hocket_sorted_keys(sorted);
  const int64_t count = hocket_sorted_count(sorted);
  printf("rank %d: %ld numbers from %.4f to %.4f\n", rank, (long)count, keys[0], keys[count - 1]);
  hocket_free_sorted(&sorted);
  MPI_Finalize();
  return 0;
}
