/* All ranks exchange without end until the last one dies in the midst of it. Usage: killed
 * kill|exit|abort|mpi_abort|segv [ints to each rank] */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "exchanges.h"

static const char* how;

static void die(int signal_number) {
  (void)signal_number;
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "exit") == 0) _exit(7);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "segv") == 0) raise(SIGSEGV);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

int main(int argc, char** argv) {
  int rank, n;
  MPI_Init(&argc, &argv);
  how = argc > 1 ? argv[1] : "kill";
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const int count = argc > 2 ? atoi(argv[2]) : 20000;
  exchange_all(MPI_COMM_WORLD, count, 0);
  alarm(40); /* MPICH's launcher sometimes lets the others be */
  if (rank == n - 1) {
    signal(SIGALRM, die);
    ualarm(200000, 0);
  }
  for (int round = 1;; ++round) exchange_all(MPI_COMM_WORLD, count, round);
}
