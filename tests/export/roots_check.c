/* Compares every byte of gathers and scatters, of every root, with the library's own answer.
 *
 *   roots_check gather | scatter
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, ranks, failures, splits;
static int gathers;

/* The generated routine splits once per communicator that it serves. */
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  splits++;
  return PMPI_Comm_split(comm, color, key, made);
}

/* HOCKET_TEST_NAMES=reverse: hosts n0, n1, … in the reverse order of ranks. */
int MPI_Get_processor_name(char* name, int* length) {
  int rank, size;
  if (getenv("HOCKET_TEST_NAMES") == NULL) return PMPI_Get_processor_name(name, length);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  *length = sprintf(name, "n%d", size - 1 - rank);
  return MPI_SUCCESS;
}

/* `all`: the side of the root; `one`: the other. Only the root's arguments for `all` mean anything. */
static int call(int ours, void* all, int count, MPI_Datatype type, void* one, int one_count, MPI_Datatype one_type,
                int root, MPI_Comm comm) {
  if (gathers) return (ours ? MPI_Gather : PMPI_Gather)(one, one_count, one_type, all, count, type, root, comm);
  return (ours ? MPI_Scatter : PMPI_Scatter)(all, count, type, one, one_count, one_type, root, comm);
}

/* Blocks of `count` pairs of ints, at the root with a gap behind each. */
static void compare_once(MPI_Comm comm, int count, int in_place, int root, unsigned salt) {
  int size, rank, i;
  MPI_Datatype pair, gaps;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 3 * sizeof(int), &gaps);
  MPI_Type_commit(&gaps);
  const int at_root = rank == root;
  const size_t one_bytes = sizeof(int) * 2 * (size_t)count, all_bytes = sizeof(int) * 3 * (size_t)count * (size_t)size;
  int *all[2], *one[2];
  for (int who = 0; who < 2; who++) {
    all[who] = malloc(all_bytes + 64);
    one[who] = malloc(one_bytes + 64);
    for (i = 0; i < (int)((all_bytes + 64) / sizeof(int)); i++)
      all[who][i] = (int)((unsigned)(i + 1) * 2654435761u + (unsigned)rank * 40503u + salt);
    for (i = 0; i < (int)((one_bytes + 64) / sizeof(int)); i++)
      one[who][i] = (int)((unsigned)(i + 1) * 40503u + (unsigned)rank * 2654435761u + salt);
    void* const own = in_place && at_root ? MPI_IN_PLACE : one[who];
    const int error = call(who == 0, at_root ? all[who] : NULL, at_root ? count : -7,
                           at_root ? gaps : MPI_DATATYPE_NULL, own, 2 * count, MPI_INT, root, comm);
    if (error != MPI_SUCCESS) failures++;
  }
  if (memcmp(all[0], all[1], all_bytes + 64) != 0 || memcmp(one[0], one[1], one_bytes + 64) != 0) {
    failures++;
    fprintf(stderr, "rank %d: %d pairs, root %d, in place %d\n", me, count, root, in_place);
  }
  for (int who = 0; who < 2; who++) {
    free(all[who]);
    free(one[who]);
  }
  MPI_Type_free(&pair);
  MPI_Type_free(&gaps);
}

static void compare(MPI_Comm comm, int count) {
  static unsigned salt;
  int size, root, in_place;
  MPI_Comm_size(comm, &size);
  for (root = 0; root < size; root++)
    for (in_place = 0; in_place < 2; in_place++) compare_once(comm, count, in_place, root, salt += 97);
}

int main(int argc, char** argv) {
  static const int counts[] = {0, 1, 5, 20000};
  int caught = 0, number = 42, all = 0;
  MPI_Request wildcard;
  MPI_Comm copy, part;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  gathers = argc > 1 && strcmp(argv[1], "gather") == 0;
  /* A receive that would catch anything sent on the program's own communicator. */
  MPI_Irecv(&caught, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &wildcard);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) compare(MPI_COMM_WORLD, counts[i]);
  const int of_world = splits;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  compare(copy, 3000);
  MPI_Comm_free(&copy);
  const int of_copy = splits - of_world;
  PMPI_Comm_split(MPI_COMM_WORLD, me == 0, me, &part);
  compare(part, 3000);
  compare(MPI_COMM_SELF, 3000);
  MPI_Comm_free(&part);
  MPI_Send(&number, 1, MPI_INT, (me + 1) % ranks, 5, MPI_COMM_WORLD);
  MPI_Wait(&wildcard, MPI_STATUS_IGNORE);
  failures += caught != 42;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("failures %d, splits %d %d %d\n", all, of_world, of_copy, splits - of_world - of_copy);
  MPI_Finalize();
  return all != 0;
}
