/* total_time alltoall|allgather BYTES CALLS: seconds of all calls together, the largest over the ranks; every message
 * is checked. Nothing but the calls is timed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char value(int from, int to, int call) { return (unsigned char)(from * 7 + to * 3 + call); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  int rank, n;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const int gather = strcmp(argv[1], "allgather") == 0, calls = atoi(argv[3]);
  const size_t bytes = (size_t)atol(argv[2]);
  unsigned char *out = calloc((size_t)n, bytes), *in = calloc((size_t)n, bytes);
  long wrong = 0, all_wrong = 0;
  double total = 0, longest = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int call = 0; call < calls; ++call) {
    for (int to = 0; to < n; ++to) {
      unsigned char* message = out + (size_t)to * bytes;
      message[0] = message[bytes - 1] = value(rank, gather ? 0 : to, call);
    }
    const double start = MPI_Wtime();
    if (gather)
      MPI_Allgather(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    else
      MPI_Alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    total += MPI_Wtime() - start;
    for (int from = 0; from < n; ++from) {
      const unsigned char* message = in + (size_t)from * bytes;
      const unsigned char right = value(from, gather ? 0 : rank, call);
      wrong += message[0] != right || message[bytes - 1] != right;
    }
  }
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(&total, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("total %.9f %s\n", longest, all_wrong ? "WRONG DATA" : "right");
  free(out);
  free(in);
  MPI_Finalize();
  return all_wrong != 0;
}
