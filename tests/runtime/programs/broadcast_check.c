/* Calls MPI_Bcast from every root and checks every byte. Knows nothing of Hocket.
 * Usage: broadcast_check [bytes...] ; prints "ok <checks>" from rank 0, exits 1 on a wrong byte. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

static unsigned char value(int root, size_t i, int salt) {
  return (unsigned char)((unsigned)root * 101u + (unsigned)(i * 2654435761u >> 13) + (unsigned)salt * 37u + 1u);
}

static void plain(MPI_Comm comm, int root, int bytes, int salt) {
  int rank, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  unsigned char* at = malloc((size_t)bytes + 16);
  memset(at, 0xAB, (size_t)bytes + 16);
  if (rank == root)
    for (int i = 0; i < bytes; ++i) at[i] = value(root, i, salt);
  check(MPI_Bcast(at, bytes, MPI_BYTE, root, comm) == MPI_SUCCESS);
  for (int i = 0; i < bytes; ++i) wrong += at[i] != value(root, i, salt);
  for (int i = bytes; i < bytes + 16; ++i) wrong += at[i] != 0xAB;
  check(!wrong);
  free(at);
}

/* Every second element at the root, side by side elsewhere. */
static void strided(MPI_Comm comm, int root, int elements, int salt) {
  int rank, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Datatype spaced;
  MPI_Type_vector(elements, 1, 2, MPI_SHORT, &spaced);
  MPI_Type_commit(&spaced);
  short* at = malloc(sizeof(short) * 2 * elements);
  memset(at, 0xAB, sizeof(short) * 2 * elements);
  if (rank == root) {
    for (int i = 0; i < elements; ++i) at[2 * i] = (short)(value(root, i, salt) * 3);
    MPI_Bcast(at, 1, spaced, root, comm);
  } else {
    MPI_Bcast(at, elements, MPI_SHORT, root, comm);
    for (int i = 0; i < elements; ++i) wrong += at[i] != (short)(value(root, i, salt) * 3);
  }
  if (rank % 2 == 0 || rank == root) {
    memset(at, 0xAB, sizeof(short) * 2 * elements);
    if (rank == root)
      for (int i = 0; i < elements; ++i) at[2 * i] = (short)(value(root, i, salt + 1) * 3);
    MPI_Bcast(at, 1, spaced, root, comm);
    for (int i = 0; i < elements; ++i) wrong += at[2 * i] != (short)(value(root, i, salt + 1) * 3);
    for (int i = 0; i + 1 < elements; ++i) wrong += at[2 * i + 1] != (short)0xABAB;
  } else {
    MPI_Bcast(at, elements, MPI_SHORT, root, comm);
    for (int i = 0; i < elements; ++i) wrong += at[i] != (short)(value(root, i, salt + 1) * 3);
  }
  check(!wrong);
  free(at);
  MPI_Type_free(&spaced);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, n;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm half, reverse;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, n - rank, &reverse);
  MPI_Comm comms[] = {MPI_COMM_WORLD, half, reverse, MPI_COMM_SELF};
  static const int all[] = {0, 1, 1000, 16384, 16385, 300007};
  const int sizes = argc > 1 ? argc - 1 : (int)(sizeof all / sizeof *all);
  for (int c = 0; c < (int)(sizeof comms / sizeof *comms); ++c) {
    int ranks;
    MPI_Comm_size(comms[c], &ranks);
    for (int k = 0; k < sizes; ++k)
      for (int root = 0; root < ranks; ++root) {
        const int bytes = argc > 1 ? atoi(argv[k + 1]) : all[k];
        plain(comms[c], root, bytes, c * 5 + k);
        if (bytes > 1) strided(comms[c], root, bytes / 2, c * 5 + k);
      }
  }
  MPI_Comm_free(&half);
  MPI_Comm_free(&reverse);
  return report();
}
