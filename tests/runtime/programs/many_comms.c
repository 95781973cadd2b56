/* Makes, uses and frees communicators. Usage: many_comms N COUNT ORDERS: of all ranks, in so many orders in turn, the
 * first that of MPI_COMM_WORLD; of some ranks in between if ORDERS is 1, so that not all have met in as many.
 * Prints "rss STEP KIB", the largest resident memory of any rank, when 100, 1000, ... and all N are through. */
#include <string.h>

#include "exchanges.h"

static long resident_kib(void) {
  char line[256];
  long kib = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, "VmRSS:", 6) == 0) kib = atol(line + 6);
  if (file != NULL) fclose(file);
  return kib;
}

/* By messages between two ranks, for which nothing is planned. */
static void tell(int step) {
  int rank, ranks;
  long own = resident_kib(), most = own;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank > 0) {
    MPI_Send(&own, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
    return;
  }
  for (int from = 1; from < ranks; ++from) {
    MPI_Recv(&own, 1, MPI_LONG, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (own > most) most = own;
  }
  printf("rss %d %ld\n", step, most);
}

/* The place of a rank in one of the orders of so many ranks. */
static int place_in(int order, int rank, int ranks) {
  int places[16];
  for (int i = 0; i < ranks; ++i) {
    const int at = i - order % (i + 1);
    order /= i + 1;
    for (int j = 0; j < i; ++j) places[j] += places[j] >= at;
    places[i] = at;
  }
  return places[rank];
}

/* An exchange for which rank 1 has other counts: it fails, at least on some rank. */
static void fail(MPI_Comm comm, int count) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int own = rank == 1 ? 2 * count : count;
  int *from = calloc((size_t)own * ranks, sizeof *from), *to = calloc((size_t)own * ranks, sizeof *to);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int failed = MPI_Alltoall(from, own, MPI_INT, to, own, MPI_INT, comm) != MPI_SUCCESS;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  check(failed);
  free(from);
  free(to);
}

static void use(MPI_Comm comm, int count, int i) {
  if (comm == MPI_COMM_NULL) return;
  exchange_all(comm, count, i);
  exchange_all(comm, count, i + 1); /* irregular sizes are planned when they come again */
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int rank, ranks, mark = 100;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int total = atoi(argv[1]), count = atoi(argv[2]), orders = atoi(argv[3]);
  for (int i = 1; i <= total; ++i) {
    MPI_Comm comm;
    if (i % orders)
      MPI_Comm_split(MPI_COMM_WORLD, 0, place_in(i % orders, rank, ranks), &comm);
    else
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (orders == 1 && i == 2) fail(comm, count);
    use(comm, count, i);
    for (int without = 2; orders == 1 && i == total - 1 && without < ranks; ++without)
      for (int order = 0; order < 6; ++order) {
        MPI_Comm_split(MPI_COMM_WORLD, rank == without ? MPI_UNDEFINED : 0, place_in(order, rank, ranks), &comm);
        use(comm, count, i);
      }
    if (i == mark || i == total) tell(i);
    if (i == mark) mark *= 10;
  }
  return report();
}
