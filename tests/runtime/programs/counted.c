/* A known number of calls, every byte checked. Knows nothing of Hocket or of tools. */
#include "persistent_exchange.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  know_ranks();
  struct exchange x = make(MPI_COMM_WORLD, 9000);
  for (int round = 0; round < 3; ++round) {
    fill(&x, round);
    MPI_Alltoall(x.out, x.count, MPI_INT, x.in, x.count, MPI_INT, MPI_COMM_WORLD);
    check(right(&x, round));
  }
  for (int round = 0; round < 2; ++round) {
    fill(&x, round);
    MPI_Start(&x.request);
    if (round == 0) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&x.request, MPI_STATUS_IGNORE);
    check(right(&x, round));
  }
  release(&x);
  return report();
}
