/* Calls in which a rank need not wait: those that may go on do, and send what the others wait for before they make the
 * call. Usage: rooted_late ROUNDS EVERY; after so many rounds of a call all ranks wait for each other, as programs do.
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"

enum { COUNT = 10, SECONDS = 60 };
enum call { BCAST, GATHER, SCATTER, REDUCE, GATHERV, SCATTERV, SUM, NOTHING, CALLS };
static const char* const names[] = {"a broadcast",    "a gather",        "a scatter",        "a reduce",
                                    "an MPI_Gatherv", "an MPI_Scatterv", "a reduce of sums", "an empty all-to-all"};
static const char* now = "";

static void hangs(int signal) {
  (void)signal;
  static const char text[] = " holds a rank up\n";
  if (write(2, now, strlen(now)) < 0 || write(2, text, sizeof text - 1) < 0) _exit(3);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void tell(int rank, int n, int goes_on) {
  char token = 0;
  for (int peer = 1; peer < n; ++peer) {
    const int other = rank == 0 ? peer : 0;
    if (rank != 0 && peer != rank) continue;
    if (goes_on)
      MPI_Send(&token, 1, MPI_CHAR, other, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(&token, 1, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  int rank, n, agreed;
  MPI_Init(&argc, &argv);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const int rounds = atoi(argv[1]), every = atoi(argv[2]);
  int *out = calloc((size_t)(n * COUNT), sizeof(int)), *in = calloc((size_t)(n * COUNT), sizeof(int));
  int *counts = calloc(2 * (size_t)n, sizeof(int)), *places = counts + n;
  double own[COUNT], sum[COUNT];
  for (int i = 0; i < n; ++i) {
    counts[i] = COUNT;
    places[i] = i * COUNT;
  }
  signal(SIGALRM, hangs);
  for (enum call call = BCAST; call < CALLS; ++call) {
    now = names[call];
    alarm(SECONDS);
    for (int round = 0; round < rounds; ++round) {
      const int from_root = call == BCAST || call == SCATTER || call == SCATTERV;
      const int goes_on = from_root || call == NOTHING ? rank == 0 : rank != 0;
      for (int i = 0; i < n * COUNT; ++i) out[i] = rank * 1000 + round;
      for (int i = 0; i < COUNT; ++i) own[i] = rank + 0.5;
      if (!goes_on) tell(rank, n, 0);
      const int last = (n - 1) * 1000 + round;
      if (call == BCAST) {
        MPI_Bcast(out, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
        check(out[COUNT - 1] == round);
      } else if (call == GATHER || call == GATHERV) {
        if (call == GATHER)
          MPI_Gather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
        else
          MPI_Gatherv(out, COUNT, MPI_INT, in, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
        check(rank != 0 || in[n * COUNT - 1] == last);
      } else if (call == SCATTER || call == SCATTERV) {
        if (call == SCATTER)
          MPI_Scatter(out, COUNT, MPI_INT, in, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
        else
          MPI_Scatterv(out, counts, places, MPI_INT, in, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
        check(in[0] == round);
      } else if (call == REDUCE) {
        MPI_Reduce(out, in, COUNT, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
        check(rank != 0 || in[0] == last);
      } else if (call == SUM) {
        MPI_Reduce(own, sum, COUNT, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        check(rank != 0 || sum[0] == n * (n - 1) / 2 + n * 0.5);
      } else {
        MPI_Alltoall(out, 0, MPI_INT, in, 0, MPI_INT, MPI_COMM_WORLD);
      }
      if (goes_on) tell(rank, n, 1);
      if (round % every == every - 1) MPI_Allreduce(&round, &agreed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
  }
  alarm(0);
  free(out);
  free(in);
  free(counts);
  return report();
}
