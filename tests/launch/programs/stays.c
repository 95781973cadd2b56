/* All-to-alls, then ranks stay until they are ended. argv[1]: where each puts a file under the name of its process. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static char mine[4 * 4096], theirs[4 * 4096];
  for (int i = 0; i < 10; ++i) MPI_Alltoall(mine, 4096, MPI_BYTE, theirs, 4096, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  char path[4096];
  snprintf(path, sizeof path, "%s/%ld", argv[1], (long)getpid());
  FILE* file = fopen(path, "w");
  if (file == NULL || fclose(file) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  for (;;) sleep(1);
}
