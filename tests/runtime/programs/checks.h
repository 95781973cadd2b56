/* What a test program counts, and how it ends. */
#ifndef CHECKS_H
#define CHECKS_H
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic long checks, errors; /* threads check, too; their errors all count, of their checks most */

static inline void check_at(int condition, const char* file, int line) {
  atomic_store_explicit(&checks, atomic_load_explicit(&checks, memory_order_relaxed) + 1, memory_order_relaxed);
  if (condition || ++errors > 5) return;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "rank %d: %s:%d\n", rank, file, line);
}
#define check(condition) check_at(condition, __FILE__, __LINE__)

/* Ends MPI. Rank 0 prints "ok <checks>", or "wrong <checks>"; the program's exit status. By messages between two ranks,
 * of which Hocket tells nothing. */
static inline int report(void) {
  long sums[2] = {checks, errors};
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank > 0) {
    MPI_Send(sums, 2, MPI_LONG, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(sums, 2, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    for (int from = 1; from < ranks; ++from) {
      long more[2];
      MPI_Recv(more, 2, MPI_LONG, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sums[0] += more[0];
      sums[1] += more[1];
    }
    for (int to = 1; to < ranks; ++to) MPI_Send(sums, 2, MPI_LONG, to, 0, MPI_COMM_WORLD);
    printf("%s %ld checks, %ld wrong\n", sums[1] ? "wrong" : "ok", sums[0], sums[1]);
  }
  MPI_Finalize();
  return sums[1] ? 1 : 0;
}

#endif
