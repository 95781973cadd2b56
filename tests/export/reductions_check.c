/* Compares every byte of a reduction or broadcast with the library's own answer, in many shapes of call.
 *
 *   reductions_check all-reduce | reduce-scatter | reduce | broadcast
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, ranks, failures, splits;
static const char* collective;

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

static void fail(const char* what) {
  failures++;
  fprintf(stderr, "rank %d: %s\n", me, what);
}

static int is(const char* name) { return strcmp(collective, name) == 0; }

/* What is reduced: an operation, a type, and how its elements are filled with small numbers. */
struct kind {
  const char* name;
  MPI_Op op;
  MPI_Datatype type;
  void (*fill)(void* element, unsigned number);
};

static void fill_int(void* element, unsigned number) { *(int*)element = (int)(number % 1000) - 500; }
static void fill_double(void* element, unsigned number) { *(double*)element = (double)(number % 1000); }
static void fill_pair(void* element, unsigned number) {
  struct {
    double value;
    int place;
  } pair;
  memset(&pair, 0, sizeof pair);
  pair.value = (double)(number % 5);
  pair.place = (int)(number % 77);
  memcpy(element, &pair, sizeof pair);
}
/* Of four ints, of which the type has the first two; and an operation of the program's. */
static void fill_gaps(void* element, unsigned number) {
  ((int*)element)[0] = (int)(number % 100);
  ((int*)element)[1] = (int)(number / 100 % 100);
}
static void add_gaps(void* in, void* inout, int* count, MPI_Datatype* type) {
  int i;
  (void)type;
  for (i = 0; i < 4 * *count; i++)
    if (i % 4 < 2) ((int*)inout)[i] += ((int*)in)[i];
}
/* 2 x 2 matrices: the order counts. */
static void multiply(void* in, void* inout, int* count, MPI_Datatype* type) {
  int i, a[4], *b;
  (void)type;
  for (i = 0; i < *count; i++) {
    memcpy(a, (int*)in + 4 * i, sizeof a);
    b = (int*)inout + 4 * i;
    const int c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                      a[2] * b[1] + a[3] * b[3]};
    memcpy(b, c, sizeof c);
  }
}
static void fill_matrix(void* element, unsigned number) {
  int i;
  for (i = 0; i < 4; i++) ((int*)element)[i] = (int)(number >> i) % 3;
}

static int call(const void* from, void* to, const int* counts, int equal, const struct kind* kind, int root,
                MPI_Comm comm) {
  if (is("all-reduce")) return MPI_Allreduce(from, to, counts[0], kind->type, kind->op, comm);
  if (is("reduce")) return MPI_Reduce(from, to, counts[0], kind->type, kind->op, root, comm);
  if (is("broadcast")) return MPI_Bcast(to, counts[0], kind->type, root, comm);
  if (equal) return MPI_Reduce_scatter_block(from, to, counts[0], kind->type, kind->op, comm);
  return MPI_Reduce_scatter(from, to, counts, kind->type, kind->op, comm);
}

/* By the library, in the nonblocking form: blocking ones take long where ranks outnumber cores. Never in place:
 * MPICH 5.0 fails its own assertions in reduce-scatters of unequal blocks that are. */
static void call_library(const void* from, void* to, const int* counts, int equal, const struct kind* kind, int root,
                         MPI_Comm comm) {
  MPI_Request request;
  int done = 0;
  if (is("all-reduce"))
    MPI_Iallreduce(from, to, counts[0], kind->type, kind->op, comm, &request);
  else if (is("reduce"))
    MPI_Ireduce(from, to, counts[0], kind->type, kind->op, root, comm, &request);
  else if (is("broadcast"))
    MPI_Ibcast(to, counts[0], kind->type, root, comm, &request);
  else if (equal)
    MPI_Ireduce_scatter_block(from, to, counts[0], kind->type, kind->op, comm, &request);
  else
    MPI_Ireduce_scatter(from, to, counts, kind->type, kind->op, comm, &request);
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) usleep(50);
}

static void compare_once(const struct kind* kind, MPI_Comm comm, int count, int in_place, int root, int equal) {
  static unsigned round;
  int size, rank, elements = 0, i;
  MPI_Aint lower, extent;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  MPI_Type_get_extent(kind->type, &lower, &extent);
  int* counts = malloc(sizeof(int) * (size_t)size);
  for (i = 0; i < size; i++) {
    counts[i] = equal ? count : i % 3 == 1 ? 0 : count * i;
    elements += counts[i];
  }
  if (!is("reduce-scatter")) elements = counts[0] = count;
  const size_t bytes = (size_t)extent * (size_t)elements;
  unsigned char *from = malloc(bytes + 64), *to = malloc(bytes + 64), *want = malloc(bytes + 64);
  memset(from, 0x11, bytes + 64);
  memset(to, 0x22, bytes + 64);
  round++;
  for (i = 0; i < elements; i++) {
    const unsigned number = ((unsigned)i * 2654435761u + (unsigned)rank * 40503u + round * 97u) >> 4;
    kind->fill(from + (size_t)i * (size_t)extent, number);
    if (in_place || is("broadcast")) kind->fill(to + (size_t)i * (size_t)extent, number);
  }
  memcpy(want, to, bytes + 64);
  const void* sends = in_place && (!is("reduce") || rank == root) ? MPI_IN_PLACE : from;
  if (call(sends, to, counts, equal, kind, root, comm) != MPI_SUCCESS) fail("error code");
  call_library(from, want, counts, equal, kind, root, comm);
  /* What lies behind the own block of a sum that was made in place is nobody's; neither is what is not the root's. */
  size_t looked_at = bytes + 64;
  if (is("reduce-scatter")) looked_at = (size_t)extent * (size_t)counts[equal ? 0 : rank];
  if (is("reduce") && rank != root) looked_at = 0;
  if (memcmp(to, want, looked_at) != 0) {
    char what[200];
    snprintf(what, sizeof what, "%s, %s: %d elements, in place %d, root %d, equal %d", collective, kind->name, count,
             in_place, root, equal);
    fail(what);
  }
  free(counts);
  free(from);
  free(to);
  free(want);
}

/* Of the roots the first two and the last. */
static void compare(const struct kind* kind, MPI_Comm comm, int count) {
  int size, root, in_place, equal;
  const int rooted = is("reduce") || is("broadcast");
  MPI_Comm_size(comm, &size);
  for (root = 0; root < (rooted ? size : 1); root += root == 1 && size > 3 ? size - 2 : 1)
    for (in_place = 0; in_place < (is("broadcast") ? 1 : 2); in_place++)
      for (equal = !is("reduce-scatter"); equal < 2; equal++) compare_once(kind, comm, count, in_place, root, equal);
}

/* Sums that round are the same in every run, whoever is late. */
static void compare_again(void) {
  enum { COUNT = 3000 };
  static double from[COUNT], first[COUNT], now[COUNT];
  int i, round;
  for (i = 0; i < COUNT; i++) from[i] = 1.0 / (1 + me + i) * (i % 7 == 0 ? 1e16 : 1.0);
  for (round = 0; round < 6; round++) {
    usleep((useconds_t)((me * 7919 + round * 104729) % 5) * 2000);
    MPI_Allreduce(from, now, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (round == 0) memcpy(first, now, sizeof now);
    if (memcmp(first, now, sizeof now) != 0) fail("another sum than before");
  }
  PMPI_Bcast(now, COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (memcmp(first, now, sizeof now) != 0) fail("another sum than that of rank 0");
}

int main(int argc, char** argv) {
  static const int counts[] = {0, 1, 5, 20000}; /* some fewer than ranks */
  size_t i;
  int k;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  collective = argc > 1 ? argv[1] : "all-reduce";

  MPI_Datatype gaps, between, matrix;
  MPI_Op gap_sum, product;
  MPI_Type_contiguous(2, MPI_INT, &between);
  MPI_Type_create_resized(between, 0, 4 * sizeof(int), &gaps);
  MPI_Type_commit(&gaps);
  MPI_Type_contiguous(4, MPI_INT, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Op_create(add_gaps, 1, &gap_sum);
  MPI_Op_create(multiply, 0, &product);
  const struct kind kinds[] = {
      {"sum of int", MPI_SUM, MPI_INT, fill_int},
      {"sum of double", MPI_SUM, MPI_DOUBLE, fill_double},
      {"least and its place", MPI_MINLOC, MPI_DOUBLE_INT, fill_pair},
      {"operation of the program on a type with gaps", gap_sum, gaps, fill_gaps},
  };

  /* A receive that would catch anything sent on the program's own communicator. */
  int caught = 0;
  MPI_Request wildcard;
  MPI_Irecv(&caught, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &wildcard);

  for (i = 0; i < sizeof counts / sizeof *counts; i++)
    for (k = 0; k < (i < 3 ? 4 : 1); k++) compare(&kinds[k], MPI_COMM_WORLD, counts[i]);
  if (is("all-reduce")) compare_again();
  int of_world = splits;

  MPI_Comm copy, reversed, part;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  compare(&kinds[0], copy, 20000);
  compare(&kinds[0], copy, 20000);
  int of_copy = splits - of_world;
  PMPI_Comm_split(MPI_COMM_WORLD, 0, -me, &reversed);
  compare(&kinds[0], reversed, 5000);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&reversed);
  int before = splits;
  PMPI_Comm_split(MPI_COMM_WORLD, me == 0, me, &part);
  compare(&kinds[0], part, 5000);
  compare(&kinds[0], MPI_COMM_SELF, 5000);
  MPI_Comm_free(&part);
  const struct kind ordered = {"product of matrices", product, matrix, fill_matrix};
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (!is("broadcast")) compare(&ordered, copy, 100);
  MPI_Comm_free(&copy);
  int of_library = splits - before;

  MPI_Barrier(MPI_COMM_WORLD);
  int number = 42, all = 0;
  MPI_Send(&number, 1, MPI_INT, (me + 1) % ranks, 5, MPI_COMM_WORLD);
  MPI_Wait(&wildcard, MPI_STATUS_IGNORE);
  if (caught != 42) fail("a message of the routine was caught by the program");

  MPI_Type_free(&between);
  MPI_Type_free(&gaps);
  MPI_Type_free(&matrix);
  MPI_Op_free(&gap_sum);
  MPI_Op_free(&product);
  PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("failures %d, splits %d %d %d\n", all, of_world, of_copy, of_library);
  MPI_Finalize();
  return all != 0;
}
