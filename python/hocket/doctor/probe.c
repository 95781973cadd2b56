/* What 'hocket doctor' runs: an all-to-all whose bytes are checked. Each rank prints a line with tabs between
 * "hocket-probe", its rank, "right" or "wrong", its processor name, and the name that Slurm gives its host. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1 << 18 }; /* large enough to be scheduled */

static unsigned char byte_of(int from, int to, int i) { return (unsigned char)(31 * from + 17 * to + i); }

int main(int argc, char** argv) {
  char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
  int rank = 0, size = 0, length = 0, right = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(name, &length);
  const size_t all = (size_t)BYTES * (size_t)size;
  unsigned char *sent = malloc(all), *got = malloc(all);
  if (sent == NULL || got == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int to = 0; to < size; ++to)
    for (int i = 0; i < BYTES; ++i) sent[(size_t)to * BYTES + (size_t)i] = byte_of(rank, to, i);
  MPI_Alltoall(sent, BYTES, MPI_BYTE, got, BYTES, MPI_BYTE, MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from)
    for (int i = 0; i < BYTES; ++i) right &= got[(size_t)from * BYTES + (size_t)i] == byte_of(from, rank, i);
  const char* slurm = getenv("SLURMD_NODENAME");
  printf("hocket-probe\t%d\t%s\t%s\t%s\n", rank, right ? "right" : "wrong", name, slurm != NULL ? slurm : "");
  fflush(stdout);
  free(sent);
  free(got);
  MPI_Finalize();
  return 0;
}
