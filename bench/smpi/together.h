/* What SMPI programs have in common: an end, memory, and a start at the same time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void die(const char* what) {
  fprintf(stderr, "exchange: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count ? count : 1, size ? size : 1);
  if (!memory) die("out of memory");
  return memory;
}

/* All ranks at once, by SimGrid's clock: they leave a barrier one after the other. */
static double start_together(void) {
  double now = MPI_Wtime(), last;
  MPI_Allreduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const struct timespec left = {0, (long)((last + 0.5 - MPI_Wtime()) * 1e9)};
  nanosleep(&left, NULL);
  return MPI_Wtime();
}

/* From the first rank's start to the last one's end, which is now. */
static double since_first(double start) {
  double end = MPI_Wtime(), first, last;
  MPI_Allreduce(&start, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return last - first;
}
