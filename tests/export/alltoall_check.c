/* Compares every byte of MPI_Alltoall with the library's own answer, in many shapes of call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, ranks, failures, splits, key_of_split = -1; /* the first key: that of the world */

/* The generated routine splits once per communicator that it serves. */
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  if (splits++ == 0) key_of_split = key;
  return PMPI_Comm_split(comm, color, key, made);
}

/* HOCKET_TEST_NAMES=reverse: hosts n0, n1, … in the reverse order of ranks. */
int MPI_Get_processor_name(char* name, int* length) {
  int rank, size;
  const char* names = getenv("HOCKET_TEST_NAMES");
  if (names == NULL) return PMPI_Get_processor_name(name, length);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  *length = sprintf(name, "n%d%s", strcmp(names, "strange") == 0 ? 1000 + rank : size - 1 - rank, ".cluster.example");
  return MPI_SUCCESS;
}

static void fail(const char* what) {
  failures++;
  fprintf(stderr, "rank %d: %s\n", me, what);
}

static void compare(const char* what, MPI_Comm comm, int in_place, int sendcount, MPI_Datatype sendtype, int recvcount,
                    MPI_Datatype recvtype) {
  int size, rank;
  MPI_Aint lower, send_extent, recv_extent;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  MPI_Type_get_extent(sendtype, &lower, &send_extent);
  MPI_Type_get_extent(recvtype, &lower, &recv_extent);
  size_t send_bytes = (size_t)send_extent * sendcount * size, recv_bytes = (size_t)recv_extent * recvcount * size;
  unsigned char *out = malloc(send_bytes + 64), *in = malloc(recv_bytes + 64), *want = malloc(recv_bytes + 64);
  static unsigned round;
  round++;
  for (size_t i = 0; i < send_bytes + 64; i++)
    out[i] = (unsigned char)((i * 2654435761u + (unsigned)rank * 40503u + round * 97u) >> 8);
  for (size_t i = 0; i < recv_bytes + 64; i++)
    in[i] = want[i] = (unsigned char)((i * 2246822519u + (unsigned)rank * 30011u + round * 89u) >> 8);
  int a = MPI_Alltoall(in_place ? MPI_IN_PLACE : out, sendcount, sendtype, in, recvcount, recvtype, comm);
  int b = PMPI_Alltoall(in_place ? MPI_IN_PLACE : out, sendcount, sendtype, want, recvcount, recvtype, comm);
  if (a != MPI_SUCCESS || b != MPI_SUCCESS) fail("error code");
  if (memcmp(in, want, recv_bytes + 64) != 0) fail(what);
  free(out);
  free(in);
  free(want);
}

static void numbers(MPI_Comm comm, int count) {
  int size, rank;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  int *out = malloc(sizeof(int) * count * size), *in = malloc(sizeof(int) * count * size);
  for (int to = 0; to < size; to++)
    for (int i = 0; i < count; i++) out[to * count + i] = (rank * 1000 + to) * 1000 + i % 1000;
  memset(in, 0xee, sizeof(int) * count * size);
  MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm);
  for (int from = 0; from < size; from++)
    for (int i = 0; i < count; i++)
      if (in[from * count + i] != (from * 1000 + rank) * 1000 + i % 1000) {
        fail("numbers");
        from = size - 1;
        break;
      }
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  /* A receive that would catch anything sent on the program's own communicator. */
  int caught = 0;
  MPI_Request wildcard;
  MPI_Irecv(&caught, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &wildcard);

  MPI_Datatype triple, gaps, pairs;
  MPI_Type_contiguous(3, MPI_INT, &triple);
  MPI_Type_commit(&triple);
  MPI_Type_vector(4, 2, 5, MPI_SHORT, &gaps);
  MPI_Type_commit(&gaps);
  MPI_Type_create_resized(MPI_DOUBLE, 0, 24, &pairs);
  MPI_Type_commit(&pairs);

  /* The last is 32 to 192 kB from rank to rank: both sides of where libraries change their protocol. */
  static const int counts[] = {1, 7, 1000, 8000};
  for (int i = 0; i < 4; i++) {
    int n = counts[i];
    numbers(MPI_COMM_WORLD, n);
    compare("int", MPI_COMM_WORLD, 0, n, MPI_INT, n, MPI_INT);
    compare("contiguous", MPI_COMM_WORLD, 0, n, triple, n, triple);
    compare("vector", MPI_COMM_WORLD, 0, n, gaps, n, gaps);
    compare("resized", MPI_COMM_WORLD, 0, n, pairs, n, pairs);
    compare("int to contiguous", MPI_COMM_WORLD, 0, 3 * n, MPI_INT, n, triple);
    compare("short to vector", MPI_COMM_WORLD, 0, 8 * n, MPI_SHORT, n, gaps);
    compare("in place", MPI_COMM_WORLD, 1, 0, MPI_INT, n, MPI_INT);
    compare("in place, vector", MPI_COMM_WORLD, 1, 0, MPI_INT, n, gaps);
  }
  compare("nothing", MPI_COMM_WORLD, 0, 0, MPI_INT, 0, MPI_INT);
  for (int i = 0; i < 10; i++) numbers(MPI_COMM_WORLD, 5000);
  int of_world = splits;

  MPI_Comm copy, reversed, part;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  compare("duplicate", copy, 0, 20000, MPI_INT, 20000, MPI_INT);
  compare("duplicate again", copy, 0, 20000, MPI_INT, 20000, MPI_INT);
  int of_copy = splits - of_world;
  PMPI_Comm_split(MPI_COMM_WORLD, 0, -me, &reversed);
  compare("reversed", reversed, 0, 20000, MPI_INT, 20000, MPI_INT);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&reversed);
  int before = splits;
  PMPI_Comm_split(MPI_COMM_WORLD, me == 0, me, &part);
  compare("part", part, 0, 20000, MPI_INT, 20000, MPI_INT);
  compare("self", MPI_COMM_SELF, 0, 20000, MPI_INT, 20000, MPI_INT);
  MPI_Comm_free(&part);
  int of_part = splits - before;

  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (MPI_Alltoall(&caught, 1, MPI_INT, &caught, -1, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS)
    fail("a negative count is no error");

  MPI_Barrier(MPI_COMM_WORLD);
  int number = 42;
  MPI_Send(&number, 1, MPI_INT, (me + 1) % ranks, 5, MPI_COMM_WORLD);
  MPI_Wait(&wildcard, MPI_STATUS_IGNORE);
  if (caught != 42) fail("a message of the routine was caught by the program");

  MPI_Type_free(&triple);
  MPI_Type_free(&gaps);
  MPI_Type_free(&pairs);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0)
    printf("failures %d, splits %d %d %d, key of rank 0: %d\n", all, of_world, of_copy, of_part, key_of_split);
  MPI_Finalize();
  return all != 0;
}
