/* What hocket_leave_alone leaves to the MPI library. Prints, from rank 0, how many calls of each step were scheduled.
 */
#include <hocket.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 65536 };
static char *from, *into;
static int rank, size, wrong;

static char byte_of(int source, int target, int at) { return (char)(source * 31 + target * 7 + at % 251); }

static void check(void) {
  for (int source = 0; source < size; ++source)
    for (int at = 0; at < BYTES; ++at) wrong += into[source * BYTES + at] != byte_of(source, rank, at);
  for (int at = 0; at < size * BYTES; ++at) into[at] = 0;
}

/* A blocking, an irregular twice, a nonblocking call. */
static void step(const char* name, MPI_Comm comm) {
  const uint64_t before = hocket_scheduled_calls();
  int* counts = malloc(sizeof(int) * (size_t)size);
  int* places = malloc(sizeof(int) * (size_t)size);
  for (int i = 0; i < size; ++i) {
    counts[i] = BYTES;
    places[i] = i * BYTES;
  }
  MPI_Alltoall(from, BYTES, MPI_CHAR, into, BYTES, MPI_CHAR, comm);
  check();
  for (int i = 0; i < 2; ++i) {
    MPI_Alltoallv(from, counts, places, MPI_CHAR, into, counts, places, MPI_CHAR, comm);
    check();
  }
  MPI_Barrier(comm);
  for (int i = 0; i < 2; ++i) {
    MPI_Request request;
    MPI_Ialltoall(from, BYTES, MPI_CHAR, into, BYTES, MPI_CHAR, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check();
    MPI_Barrier(comm);
  }
  if (rank == 0) printf("%s %d\n", name, (int)(hocket_scheduled_calls() - before));
  free(counts);
  free(places);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  from = malloc((size_t)size * BYTES);
  into = malloc((size_t)size * BYTES);
  for (int target = 0; target < size; ++target)
    for (int at = 0; at < BYTES; ++at) from[target * BYTES + at] = byte_of(rank, target, at);
  MPI_Comm fresh, again;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  if (hocket_leave_alone(fresh) != HOCKET_SUCCESS) wrong += 1;
  step("fresh", fresh);
  MPI_Comm_dup(fresh, &again);
  step("duplicate", again);
  if (hocket_leave_alone(again) != HOCKET_SUCCESS) wrong += 1;
  step("used", again);
  if (hocket_leave_alone(again) != HOCKET_SUCCESS) wrong += 1;
  step("twice", again);
  step("world", MPI_COMM_WORLD);
  MPI_Comm chosen, passed;
  MPI_Comm_dup(MPI_COMM_WORLD, &chosen);
  MPI_Comm_dup(MPI_COMM_WORLD, &passed);
  int candidates = 0;
  while (hocket_candidate_name(candidates) != NULL) ++candidates;
  if (candidates < 2 || hocket_candidate_name(-1) != NULL) wrong += 1;
  if (hocket_serve_by(chosen, "order-large") != HOCKET_SUCCESS) wrong += 1;
  step("chosen", chosen);
  if (hocket_serve_by(passed, "native") != HOCKET_SUCCESS) wrong += 1;
  step("passed", passed);
  if (hocket_serve_by(passed, "nothing") != HOCKET_ERR_ARGUMENT) wrong += 1;
  if (hocket_serve_by(MPI_COMM_NULL, "native") != HOCKET_ERR_ARGUMENT) wrong += 1;
  MPI_Comm_free(&chosen);
  MPI_Comm_free(&passed);
  if (hocket_leave_alone(MPI_COMM_NULL) != HOCKET_ERR_ARGUMENT) wrong += 1;
  if (rank == 0) printf("error %s\n", hocket_error_string(HOCKET_ERR_ARGUMENT));
  MPI_Comm_free(&again);
  MPI_Comm_free(&fresh);
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %d\n", all);
  free(from);
  free(into);
  MPI_Finalize();
  return 0;
}
