/* Collectives of few bytes, one after the other. Usage: crowded DOUBLES ROUNDS; rank 0 prints "CALL SECONDS" a call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum call { BARRIER, BROADCAST, REDUCE, ALL_REDUCE, ALL_TO_ALL, CALLS };
static const char* const names[] = {"barrier", "broadcast", "reduce", "all-reduce", "all-to-all"};
enum { WARM = 3 };

static void run(enum call call, double* from, double* to, int count) {
  switch (call) {
    case BARRIER:
      MPI_Barrier(MPI_COMM_WORLD);
      break;
    case BROADCAST:
      MPI_Bcast(from, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      break;
    case REDUCE:
      MPI_Reduce(from, to, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      break;
    case ALL_REDUCE:
      MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      break;
    default:
      MPI_Alltoall(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const int count = atoi(argv[1]), rounds = atoi(argv[2]);
  int ranks, me;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  double *from = calloc((size_t)count * ranks, sizeof *from), *to = calloc((size_t)count * ranks, sizeof *to);
  for (int call = 0; call < CALLS; ++call) {
    for (int i = 0; i < WARM; ++i) run(call, from, to, count);
    const double begin = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) run(call, from, to, count);
    if (me == 0) printf("%s %.9f\n", names[call], (MPI_Wtime() - begin) / rounds);
  }
  free(from);
  free(to);
  MPI_Finalize();
}
