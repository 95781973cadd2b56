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

/* Ends MPI. Rank 0 prints "ok <checks>", or "wrong <checks>"; the program's exit status. */
static inline int report(void) {
  long totals[2] = {checks, errors}, sums[2];
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(totals, sums, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s %ld checks, %ld wrong\n", sums[1] ? "wrong" : "ok", sums[0], sums[1]);
  MPI_Bcast(sums, 2, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return sums[1] ? 1 : 0;
}

#endif
