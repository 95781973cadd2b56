/* Usage: loaded init|thread. Whether the runtime is in the process before MPI begins, and after. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int loaded(void) {
  char line[4096];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL) found |= strstr(line, "hocket_runtime") != NULL;
  fclose(maps);
  return found;
}

int main(int argc, char** argv) {
  const int before = loaded();
  int rank, level;
  if (argc == 2 && strcmp(argv[1], "thread") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  else
    MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("before %d after %d\n", before, loaded());
  MPI_Finalize();
  return 0;
}
