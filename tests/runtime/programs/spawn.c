/* Parents start as many children; all exchange: each family alone, across, and together.
 * Usage: spawn [children] */
#include <string.h>

#include "exchanges.h"

/* Across an intercommunicator every rank hears from the remote ones only. */
static void across(MPI_Comm inter) {
  int rank, remote;
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_remote_size(inter, &remote);
  int *out = malloc(sizeof(int) * remote), *in = malloc(sizeof(int) * remote);
  for (int j = 0; j < remote; ++j) out[j] = element(rank, j, 0, 9);
  check(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, inter) == MPI_SUCCESS);
  for (int j = 0; j < remote; ++j) check(in[j] == element(j, rank, 0, 9));
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  MPI_Comm parent, inter, all;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  exchange_all(MPI_COMM_WORLD, 300, 1);
  if (parent == MPI_COMM_NULL) {
    int children = argc > 1 ? atoi(argv[1]) : 3;
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  } else {
    inter = parent;
  }
  across(inter);
  MPI_Intercomm_merge(inter, parent != MPI_COMM_NULL, &all);
  exchange_all(all, 300, 2);
  exchange_all(all, 300, 3);
  long own[2] = {checks, errors}, sums[2];
  MPI_Allreduce(own, sums, 2, MPI_LONG, MPI_SUM, all);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&inter);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (parent == MPI_COMM_NULL && rank == 0)
    printf("%s %ld checks, %ld wrong\n", sums[1] ? "wrong" : "ok", sums[0], sums[1]);
  MPI_Finalize();
  return sums[1] ? 1 : 0;
}
