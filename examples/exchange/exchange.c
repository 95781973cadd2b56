/* Every rank sends a few other ranks messages of different sizes, ten times by one schedule.
 *
 *     mpicc exchange.c $(hocket info --cflags --libs) -o exchange && mpiexec -n 6 ./exchange */
#include <hocket.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int code) {
  if (code == HOCKET_SUCCESS) return;
  fprintf(stderr, "%s\n", hocket_error_string(code));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  /* The destination vector: 40,000 bytes to the next rank, 10,000 to the one after it. */
  const int targets[] = {(rank + 1) % ranks, (rank + 2) % ranks};
  const int64_t bytes[] = {40000, 10000};
  hocket_table* table;
  must(hocket_schedule(MPI_COMM_WORLD, ranks > 2 ? 2 : 0, targets, bytes, NULL, 1, &table));

  /* The table knows who sends to this rank. */
  int count;
  const int* sources;
  const int64_t* sizes;
  must(hocket_sources(table, &count, &sources, &sizes));
  void** received = malloc(sizeof(void*) * (count + 1));
  for (int i = 0; i < count; ++i) received[i] = malloc((size_t)sizes[i]);
  char *next = calloc(40000, 1), *second = calloc(10000, 1);
  const void* sent[] = {next, second};
  for (int round = 0; round < 10; ++round) {
    next[0] = (char)(rank + round);
    must(hocket_exchange(table, sent, received));
  }

  if (rank == 0) {
    size_t rows;
    const hocket_phase* phase;
    hocket_info info;
    must(hocket_get_info(table, &info));
    must(hocket_phases(table, &rows, &phase));
    printf("rank 0 of %d, %s, %lld phases\n", ranks, info.algorithm, (long long)info.phases);
    printf("phase  to  bytes  offset  from  bytes  offset\n");
    for (size_t i = 0; i < rows; ++i)
      printf("%5lld  %2d  %5lld  %6lld  %4d  %5lld  %6lld\n", (long long)phase[i].phase, phase[i].send_to,
             (long long)phase[i].send_length, (long long)phase[i].send_offset, phase[i].receive_from,
             (long long)phase[i].receive_length, (long long)phase[i].receive_offset);
  }
  for (int i = 0; i < count; ++i) free(received[i]);
  free(received);
  free(next);
  free(second);
  must(hocket_free(&table));
  MPI_Finalize();
  return 0;
}
