/* Collective calls of known traffic, for 'hocket record'. The first argument says what goes wrong. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 4, ROOM = 4096 };
static char from[ROOM * 8], to[ROOM * 8];

int main(int argc, char** argv) {
  const char* fault = argc > 1 ? argv[1] : "";
  int rank = 0, ranks = 0, counts[RANKS] = {0}, back[RANKS] = {0}, at[RANKS] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != RANKS) MPI_Abort(MPI_COMM_WORLD, 9);
  if (strcmp(fault, "nothing") == 0) {
    MPI_Finalize();
    return 0;
  }

  /* Rank i sends 10 i + j ints to rank j: three times, then once with more for rank 2 from rank 1. */
  for (int call = 0; call < 4; ++call) {
    for (int i = 0; i < RANKS; ++i) {
      counts[i] = 10 * rank + i + (call == 3 && rank == 1 && i == 2 ? 100 : 0);
      back[i] = 10 * i + rank + (call == 3 && i == 1 && rank == 2 ? 100 : 0);
      at[i] = 512 * i;
    }
    MPI_Alltoallv(from, counts, at, MPI_INT, to, back, at, MPI_INT, MPI_COMM_WORLD);
  }
  if (strcmp(fault, "die") == 0) {
    if (rank == 3) _exit(7);
    sleep(30); /* MPICH's launcher does not always end the others */
    _exit(7);
  }

  /* Odd and even ranks apart, in reverse order. */
  MPI_Comm half, ring;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Alltoall(from, 3, MPI_DOUBLE, to, 3, MPI_DOUBLE, half);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 5, MPI_SHORT, half);

  MPI_Allgather(from, rank == 0 ? 8 : 4, rank == 0 ? MPI_CHAR : MPI_SHORT, to, 8, MPI_CHAR, MPI_COMM_WORLD);
  for (int i = 0; i < RANKS; ++i) back[i] = i;
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, back, at, MPI_CHAR, MPI_COMM_WORLD);

  /* A vector with holes counts without them. */
  MPI_Datatype holes, types[RANKS];
  MPI_Type_vector(2, 1, 3, MPI_INT, &holes);
  MPI_Type_commit(&holes);
  for (int i = 0; i < RANKS; ++i) counts[i] = 1, types[i] = holes, at[i] = 64 * i;
  MPI_Request request;
  MPI_Ialltoallw(from, counts, at, types, to, counts, at, types, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&holes);

  /* A graph whose edge to the next rank is there twice. */
  const int next[2] = {(rank + 1) % RANKS, (rank + 1) % RANKS};
  const int before[2] = {(rank + RANKS - 1) % RANKS, (rank + RANKS - 1) % RANKS};
  const int one[2] = {1, 2}, where[2] = {0, 8};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, before, one, 2, next, one, MPI_INFO_NULL, 0, &ring);
  MPI_Neighbor_alltoallv(from, one, where, MPI_CHAR, to, one, where, MPI_CHAR, ring);

  /* A persistent call, started twice. */
  MPI_Neighbor_alltoallv_init(from, one, where, MPI_INT, to, one, where, MPI_INT, ring, MPI_INFO_NULL, &request);
  for (int start = 0; start < 2; ++start) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);

  MPI_Comm_free(&ring);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return strcmp(fault, "code") == 0 && rank == 0 ? 5 : 0;
}
