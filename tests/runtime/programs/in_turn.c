/* Calls MPI_Alltoall and MPI_Allgather in turn and checks every byte, on MPI_COMM_WORLD, or on copies of its parts.
 * Usage: in_turn bytes rounds [PARTS], where the letter PARTS[r] says to which part rank r belongs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char value(int from, int to, int i, int round) {
  return (unsigned char)(from * 31 + to * 17 + i * 7 + round);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, n, world_rank;
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  if (argc > 3) {
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, argv[3][world_rank], world_rank, &part);
    MPI_Comm_dup(part, &comm);
    MPI_Comm_free(&part);
  }
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  const int bytes = atoi(argv[1]), rounds = atoi(argv[2]);
  unsigned char *out = malloc((size_t)bytes * n), *in = malloc((size_t)bytes * n);
  long wrong = 0, all = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int to = 0; to < n; ++to)
      for (int i = 0; i < bytes; ++i) out[(size_t)to * bytes + i] = value(rank, to, i, round);
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
    for (int from = 0; from < n; ++from)
      for (int i = 0; i < bytes; ++i) wrong += in[(size_t)from * bytes + i] != value(from, rank, i, round);
    MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
    for (int from = 0; from < n; ++from)
      for (int i = 0; i < bytes; ++i) wrong += in[(size_t)from * bytes + i] != value(from, 0, i, round);
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (argc > 3) MPI_Comm_free(&comm);
  if (world_rank == 0) printf("%s %ld wrong\n", all ? "wrong" : "ok", all);
  free(in);
  free(out);
  MPI_Finalize();
  return all != 0;
}
