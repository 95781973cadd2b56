/* What the timing programs share: the bytes of a round, and a barrier around what is timed. */
#pragma once
#include <mpi.h>
#include <unistd.h>

/* Byte i of the message of this round. */
static inline char pattern(int from, int to, int i, int round) {
  return (char)(from * 7 + to * 13 + i * 3 + i / 251 + round);
}

/* A barrier that sleeps: the ranks outnumber the cores. */
static inline void settle(void) {
  MPI_Request request;
  int done = 0;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  while (!done) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) usleep(300);
  }
}
