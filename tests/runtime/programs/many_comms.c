/* Makes, uses and frees communicators. Usage: many_comms N COUNT
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

int main(int argc, char** argv) {
  int rank, mark = 100;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int total = atoi(argv[1]), count = atoi(argv[2]);
  for (int i = 1; i <= total; ++i) {
    MPI_Comm comm;
    if (i % 2)
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
      MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    exchange_all(comm, count, i);
    exchange_all(comm, count, i + 1); /* irregular sizes are planned when they come again */
    MPI_Comm_free(&comm);
    if (i == mark || i == total) tell(i);
    if (i == mark) mark *= 10;
  }
  return report();
}
