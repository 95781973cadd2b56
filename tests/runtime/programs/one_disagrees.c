/* Plans MPI_Alltoallv three times with as many bytes between any two ranks, but for one message, of which its sender
 * and its receiver think differently, and never starts it: the MPI libraries might wait for ever.
 * Usage: one_disagrees bytes source destination sent expected */
#include <mpi.h>
#include <stdlib.h>

#include "checks.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 6) return 2;
  const int bytes = atoi(argv[1]), src = atoi(argv[2]), dst = atoi(argv[3]);
  int rank, n;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  int *send = malloc(sizeof(int) * (size_t)n), *receive = malloc(sizeof(int) * (size_t)n);
  int* at = malloc(sizeof(int) * (size_t)n);
  for (int i = 0; i < n; ++i) {
    send[i] = rank == src && i == dst ? atoi(argv[4]) : bytes;
    receive[i] = rank == dst && i == src ? atoi(argv[5]) : bytes;
    at[i] = i * bytes;
  }
  char *out = malloc((size_t)n * (size_t)bytes), *in = malloc((size_t)n * (size_t)bytes);
  for (int call = 0; call < 3; ++call) {
    MPI_Request request;
    check(MPI_Alltoallv_init(out, send, at, MPI_BYTE, in, receive, at, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL,
                             &request) == MPI_SUCCESS);
    check(MPI_Request_free(&request) == MPI_SUCCESS);
  }
  free(in), free(out), free(at), free(receive), free(send);
  return report();
}
