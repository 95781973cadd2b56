/* All kinds of communicators of the ranks, one after the other: in other orders, parts of hosts, alone.
 * Usage: subsets [count] */
#include "exchanges.h"

static void of_split(int color, int key, int count, int salt) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
  if (comm == MPI_COMM_NULL) return;
  exchange_all(comm, count, salt);
  exchange_all(comm, count + 1, salt);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int rank, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const int count = argc > 1 ? atoi(argv[1]) : 300;
  exchange_all(MPI_COMM_WORLD, count, 0);
  exchange_all(MPI_COMM_SELF, count, 1);
  of_split(0, -rank, count, 2);                            /* the other way round */
  of_split(rank % 2, rank * 5 % 7, count, 3);              /* every second rank, in no order */
  of_split(rank < n / 2 ? 0 : 1, rank, count, 4);          /* neighbours */
  of_split(rank == 0 ? MPI_UNDEFINED : 1, rank, count, 5); /* all but the first */
  of_split(rank == n - 1 ? MPI_UNDEFINED : 1, -rank, count, 6);
  exchange_all(MPI_COMM_WORLD, count, 7);
  return report();
}
