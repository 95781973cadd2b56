/* Makes many short calls and prints how much memory the ranks hold. Knows nothing of Hocket. Usage: flat_memory calls
 * Rank 0 prints "after CALLS calls KIB" after a tenth of the calls and at the end: KiB that are resident, most of a
 * rank. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

static long resident_kib(void) {
  char line[256];
  long kib = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL)
    if (sscanf(line, "VmRSS: %ld", &kib) == 1) break;
  if (status != NULL) fclose(status);
  return kib;
}

static void tell(int rank, int calls) {
  long own = resident_kib(), most = 0;
  MPI_Reduce(&own, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("after %d calls %ld\n", calls, most);
}

int main(int argc, char** argv) {
  enum { MOST = 64, BYTES = 40 };
  int rank, n, counts[MOST], expected[MOST], at[MOST];
  static unsigned char out[MOST * BYTES], in[MOST * BYTES];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const int calls = argc > 1 ? atoi(argv[1]) : 1000;
  for (int call = 1; call <= calls; ++call) {
    for (int i = 0; i < n; ++i) {
      counts[i] = (rank + i + call) % BYTES;
      expected[i] = counts[i]; /* the sum is the same on both ranks */
      at[i] = i * BYTES;
      memset(out + at[i], rank + i + call, BYTES);
    }
    if (call % 2 == 0)
      MPI_Alltoall(out, BYTES, MPI_BYTE, in, BYTES, MPI_BYTE, MPI_COMM_WORLD);
    else
      MPI_Alltoallv(out, counts, at, MPI_BYTE, in, expected, at, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < n; ++i)
      if (call % 2 == 0 || counts[i] > 0) check(in[at[i]] == (unsigned char)(rank + i + call));
    if (call == calls / 10 || call == calls) tell(rank, call);
  }
  return report();
}
