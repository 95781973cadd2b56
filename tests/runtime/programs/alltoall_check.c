/* Calls MPI_Alltoall in many ways and checks every byte. Knows nothing of Hocket.
 * Usage: alltoall_check [rounds] ; prints "ok <checks>" from rank 0, exits 1 on a wrong byte. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

static int value(int from, int to, int i, int salt) { return from * 1000003 + to * 7919 + i * 31 + salt; }

static void ints(MPI_Comm comm, int count, int in_place, int salt) {
  int rank, n;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  int *in = malloc(sizeof(int) * (size_t)count * n + 1), *out = malloc(sizeof(int) * (size_t)count * n + 1);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < count; ++i) (in_place ? in : out)[(size_t)j * count + i] = value(rank, j, i, salt);
  MPI_Alltoall(in_place ? MPI_IN_PLACE : out, count, MPI_INT, in, count, MPI_INT, comm);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < count; ++i) check(in[(size_t)j * count + i] == value(j, rank, i, salt));
  free(in);
  free(out);
}

/* Every second int on the send side, a contiguous type on the receive side: same signature. */
static void vectors(MPI_Comm comm, int count, int in_place, int salt) {
  int rank, n;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  MPI_Datatype strided, spaced, solid;
  MPI_Type_vector(count, 1, 2, MPI_INT, &strided);
  MPI_Type_create_resized(strided, 0, (MPI_Aint)(2 * sizeof(int) * count), &spaced);
  MPI_Type_contiguous(count, MPI_INT, &solid);
  MPI_Type_commit(&spaced);
  MPI_Type_commit(&solid);
  size_t room = 2 * (size_t)count * n;
  int *in = malloc(sizeof(int) * room), *out = malloc(sizeof(int) * room);
  for (size_t i = 0; i < room; ++i) in[i] = out[i] = -7;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < count; ++i) (in_place ? in : out)[2 * ((size_t)j * count + i)] = value(rank, j, i, salt);
  if (in_place) {
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, spaced, comm);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < count; ++i) {
        size_t at = 2 * ((size_t)j * count + i);
        check(in[at] == value(j, rank, i, salt));
        check(in[at + 1] == -7);
      }
  } else {
    MPI_Alltoall(out, 1, spaced, in, 1, solid, comm);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < count; ++i) check(in[(size_t)j * count + i] == value(j, rank, i, salt));
  }
  free(in);
  free(out);
  MPI_Type_free(&strided);
  MPI_Type_free(&spaced);
  MPI_Type_free(&solid);
}

/* Same extent and size as a dense type, but the elements travel in the opposite order. */
static void reversed(MPI_Comm comm, int salt) {
  int rank, n, lengths[2] = {1000, 1000}, places[2] = {1000, 0};
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  MPI_Datatype swapped;
  MPI_Type_indexed(2, lengths, places, MPI_INT, &swapped);
  MPI_Type_commit(&swapped);
  int *in = malloc(sizeof(int) * 2000 * n), *out = malloc(sizeof(int) * 2000 * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < 2000; ++i) out[j * 2000 + (i + 1000) % 2000] = value(rank, j, i, salt);
  MPI_Alltoall(out, 1, swapped, in, 2000, MPI_INT, comm);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < 2000; ++i) check(in[j * 2000 + i] == value(j, rank, i, salt));
  free(in);
  free(out);
  MPI_Type_free(&swapped);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, n, rounds = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm half, reverse, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, n - rank, &reverse);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm comms[] = {MPI_COMM_WORLD, half, reverse, copy, MPI_COMM_SELF};
  static const int counts[] = {0, 1, 100, 4096, 5000, 20011, 65536};
  for (int round = 0; round < rounds; ++round)
    for (size_t c = 0; c < sizeof comms / sizeof *comms; ++c)
      for (size_t k = 0; k < sizeof counts / sizeof *counts; ++k)
        for (int in_place = 0; in_place < 2; ++in_place) {
          int salt = round * 17 + (int)(c * 5 + k);
          ints(comms[c], counts[k], in_place, salt);
          if (counts[k] > 0 && counts[k] < 30000) vectors(comms[c], counts[k], in_place, salt);
          if (k == 0 && !in_place) reversed(comms[c], salt);
        }
  MPI_Comm_free(&half);
  MPI_Comm_free(&reverse);
  MPI_Comm_free(&copy);
  return report();
}
