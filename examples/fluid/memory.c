#include "memory.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void* allocate(int64_t count, size_t size) {
  void* memory = calloc((size_t)count + 1, size);
  if (memory == NULL) {
    fprintf(stderr, "fluid: there is no memory for %lld values of %zu bytes\n", (long long)count, size);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}
