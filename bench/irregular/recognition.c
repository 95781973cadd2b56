/* What it costs to recognise a repeated MPI_Alltoallv under Hocket's preload library. In turn: calls that are
 * recognised; the same exchange as a persistent request, which nobody has to recognise; an MPI_Allreduce of 8
 * bytes; the same reduction by MPI_Iallreduce, giving up the processor while it waits. Checks every byte.
 * Usage: recognition BYTES ROUNDS CALLS ; every rank sends BYTES to 2 x BYTES to every other one. Prints
 * "RECOGNISED PERSISTENT ALLREDUCE YIELDING" per round from rank 0: seconds per call, of CALLS in a row. */
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lab/rounds.h"

enum { RECOGNISED, PERSISTENT, ALLREDUCE, YIELDING, KINDS };

static int rank, n, *sends, *send_at, *receives, *receive_at;
static char *out, *in;
static MPI_Request request;

static int size_of(int from, int to, int bytes) { return from == to ? 0 : bytes + (from * 5 + to * 3) % 8 * bytes / 7; }

/* Counts, displacements, buffers and the persistent request. */
static void prepare(int bytes) {
  int* counts = calloc(4 * (size_t)n, sizeof(int));
  int out_bytes = 0, in_bytes = 0;
  sends = counts, send_at = counts + n, receives = counts + 2 * n, receive_at = counts + 3 * n;
  for (int p = 0; p < n; ++p) {
    sends[p] = size_of(rank, p, bytes), send_at[p] = out_bytes, out_bytes += sends[p];
    receives[p] = size_of(p, rank, bytes), receive_at[p] = in_bytes, in_bytes += receives[p];
  }
  out = malloc((size_t)out_bytes);
  in = malloc((size_t)in_bytes);
  MPI_Alltoallv_init(out, sends, send_at, MPI_BYTE, in, receives, receive_at, MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &request);
}

static void call(int kind) {
  uint64_t own = UINT64_MAX, all;
  if (kind == RECOGNISED) {
    MPI_Alltoallv(out, sends, send_at, MPI_BYTE, in, receives, receive_at, MPI_BYTE, MPI_COMM_WORLD);
  } else if (kind == PERSISTENT) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (kind == ALLREDUCE) {
    MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_BAND, MPI_COMM_WORLD);
  } else {
    MPI_Request reduction;
    int done = 0;
    MPI_Iallreduce(&own, &all, 1, MPI_UINT64_T, MPI_BAND, MPI_COMM_WORLD, &reduction);
    for (MPI_Test(&reduction, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&reduction, &done, MPI_STATUS_IGNORE))
      sched_yield();
  }
}

/* Seconds per call on the slowest rank (on rank 0). A call that is not timed brings the ranks together. */
static double time_calls(int kind, int calls) {
  call(kind);
  double start = MPI_Wtime(), seconds, slowest = 0;
  for (int i = 0; i < calls; ++i) call(kind);
  seconds = (MPI_Wtime() - start) / calls;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return slowest;
}

/* time_calls with new data; adds to `wrong` if not all of it arrives. */
static double checked(int kind, int calls, int round, int* wrong) {
  for (int p = 0; p < n; ++p) {
    for (int i = 0; i < sends[p]; ++i) out[send_at[p] + i] = pattern(rank, p, i, round);
    memset(in + receive_at[p], 1, (size_t)receives[p]);
  }
  settle();
  double seconds = time_calls(kind, calls);
  if (kind == RECOGNISED || kind == PERSISTENT)
    for (int p = 0; p < n; ++p)
      for (int i = 0; i < receives[p]; ++i) *wrong |= in[receive_at[p] + i] != pattern(p, rank, i, round);
  return seconds;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  int bytes = argc == 4 ? atoi(argv[1]) : 0, rounds = argc == 4 ? atoi(argv[2]) : 0,
      calls = argc == 4 ? atoi(argv[3]) : 0, wrong = 0, any_wrong;
  if (bytes < 1 || rounds < 1 || calls < 1 || bytes > (1 << 29) / n) {
    if (rank == 0) fprintf(stderr, "usage: recognition BYTES ROUNDS CALLS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  prepare(bytes);
  for (int use = 0; use < 2; ++use) call(RECOGNISED); /* planned by the second use at the latest */
  for (int round = 0; round < rounds; ++round) {
    double seconds[KINDS];
    for (int i = 0; i < KINDS; ++i) {
      int kind = (round + i) % KINDS;
      seconds[kind] = checked(kind, calls, round, &wrong);
    }
    if (rank == 0)
      for (int kind = 0; kind < KINDS; ++kind) printf("%.9f%c", seconds[kind], kind + 1 < KINDS ? ' ' : '\n');
  }
  MPI_Request_free(&request);
  free(in), free(out), free(sends);
  MPI_Allreduce(&wrong, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && any_wrong) fprintf(stderr, "WRONG DATA\n");
  MPI_Finalize();
  return any_wrong;
}
