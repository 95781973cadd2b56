/* A rank waits for another one inside a collective call, and that one for a message from or to it, which the MPI
 * library has yet to move: long ones go by handshake. Knows nothing of Hocket. Usage: needed_meanwhile BYTES */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

/* Every byte of what the rank before has sent. */
static void all_to_all(int rank, int n, int round) {
  int out[64], in[64], counts[64], at[64];
  for (int i = 0; i < n; ++i) out[i] = 1000 * rank + 10 * i + round, counts[i] = 1, at[i] = i;
  if (round % 2 == 0)
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  else
    MPI_Alltoallv(out, counts, at, MPI_INT, in, counts, at, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) check(in[i] == 1000 * i + 10 * rank + round);
}

int main(int argc, char** argv) {
  int rank, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const int bytes = argc > 1 ? atoi(argv[1]) : 1 << 20;
  unsigned char* const buffer = malloc((size_t)bytes);
  for (int round = 0; round < 2 * n; ++round) {
    const int early = round / 2, late = (early + 1) % n; /* early comes first to the collective call */
    MPI_Request request = MPI_REQUEST_NULL;
    memset(buffer, rank == late ? round + 1 : 0, (size_t)bytes);
    if (rank == early) MPI_Irecv(buffer, bytes, MPI_BYTE, late, 7, MPI_COMM_WORLD, &request);
    if (rank == late) MPI_Ssend(buffer, bytes, MPI_BYTE, early, 7, MPI_COMM_WORLD);
    all_to_all(rank, n, round);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; rank == early && i < bytes; ++i) check(buffer[i] == (unsigned char)(round + 1));
  }
  free(buffer);
  return report();
}
