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

/* Rank 0 of a communicator prints "ok <checks>", or "wrong <checks>"; the program's exit status. By messages between
 * two ranks, of which Hocket tells nothing. */
static inline int report_on(MPI_Comm comm) {
  long sums[2] = {checks, errors};
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (rank > 0) {
    MPI_Send(sums, 2, MPI_LONG, 0, 0, comm);
    MPI_Recv(sums, 2, MPI_LONG, 0, 0, comm, MPI_STATUS_IGNORE);
  } else {
    for (int from = 1; from < ranks; ++from) {
      long more[2];
      MPI_Recv(more, 2, MPI_LONG, from, 0, comm, MPI_STATUS_IGNORE);
      sums[0] += more[0];
      sums[1] += more[1];
    }
    for (int to = 1; to < ranks; ++to) MPI_Send(sums, 2, MPI_LONG, to, 0, comm);
    printf("%s %ld checks, %ld wrong\n", sums[1] ? "wrong" : "ok", sums[0], sums[1]);
    fflush(stdout); /* MPICH 5.0.2 kills ranks that leave in an unusual way */
  }
  return sums[1] ? 1 : 0;
}

/* Ends MPI, too. */
static inline int report(void) {
  const int status = report_on(MPI_COMM_WORLD);
  MPI_Finalize();
  return status;
}

#endif
