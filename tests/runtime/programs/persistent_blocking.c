/* Persistent all-to-alls that are active while ranks block elsewhere, every byte checked. Knows nothing of
 * Hocket. Usage: persistent_blocking [vector] ; prints "ok <checks>" from rank 0, exits 1 on a wrong byte. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "persistent_exchange.h"

/* Blocking collectives while persistent ones are active. */
static void among_blocking_calls(void) {
  struct exchange x = make(MPI_COMM_WORLD, 9000), y = make(MPI_COMM_WORLD, 5000);
  for (int round = 0; round < 4; ++round) {
    fill(&x, round);
    MPI_Start(&x.request);
    fill(&y, round + 1);
    MPI_Alltoall(y.out, y.count, MPI_INT, y.in, y.count, MPI_INT, MPI_COMM_WORLD);
    check(right(&y, round + 1));
    MPI_Wait(&x.request, MPI_STATUS_IGNORE);
    check(right(&x, round));
  }
  release(&x);
  release(&y);
}

/* MPI_Alltoallv, or MPI_Neighbor_alltoallv on the graph in which everybody is everybody's neighbour. */
static void vector(struct exchange* y, MPI_Comm graph, int salt) {
  int counts[n], places[n];
  for (int i = 0; i < n; ++i) {
    counts[i] = y->count;
    places[i] = i * y->count;
  }
  fill(y, salt);
  if (graph == MPI_COMM_NULL)
    MPI_Alltoallv(y->out, counts, places, MPI_INT, y->in, counts, places, MPI_INT, MPI_COMM_WORLD);
  else
    MPI_Neighbor_alltoallv(y->out, counts, places, MPI_INT, y->in, counts, places, MPI_INT, graph);
  check(right(y, salt));
}

/* Irregular exchanges that come again, from the fourth time on beside an active request. */
static void among_vector_calls(void) {
  struct exchange x = make(MPI_COMM_WORLD, 9000), y = make(MPI_COMM_WORLD, 5000);
  MPI_Comm graph;
  int everybody[n], weights[n];
  for (int i = 0; i < n; ++i) everybody[i] = weights[i] = i;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, everybody, weights, n, everybody, weights, MPI_INFO_NULL, 0,
                                 &graph);
  for (int round = 0; round < 6; ++round) {
    const int beside = round >= 3;
    fill(&x, round);
    if (beside) MPI_Start(&x.request);
    vector(&y, MPI_COMM_NULL, round);
    vector(&y, graph, round + 20);
    if (!beside) continue;
    MPI_Wait(&x.request, MPI_STATUS_IGNORE);
    check(right(&x, round));
  }
  MPI_Comm_free(&graph);
  release(&x);
  release(&y);
}

/* The next rank may go on. */
static void pass_on(int how, int salt) {
  const int to = rank + 1;
  int turn = value(rank, to, 0, salt), back = 0;
  MPI_Request request;
  switch (how) {
    case 0:
      MPI_Ssend(&turn, 1, MPI_INT, to, salt, MPI_COMM_WORLD);
      break;
    case 1:
      MPI_Sendrecv(&turn, 1, MPI_INT, to, salt, &back, 1, MPI_INT, to, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(back == 7);
      break;
    case 2:
      MPI_Isend(&turn, 1, MPI_INT, to, salt, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    default:
      MPI_Send(&turn, 1, MPI_INT, to, salt, MPI_COMM_WORLD);
  }
}

static void wait_for_turn(int how, int salt) {
  const int from = rank - 1;
  int turn = 0, found = 0, seven = 7;
  MPI_Status status = {0};
  MPI_Message message;
  switch (how) {
    case 0:
      MPI_Recv(&turn, 1, MPI_INT, from, salt, MPI_COMM_WORLD, &status);
      break;
    case 1:
      MPI_Sendrecv(&seven, 1, MPI_INT, from, 99, &turn, 1, MPI_INT, from, salt, MPI_COMM_WORLD, &status);
      break;
    case 2:
      turn = seven;
      MPI_Probe(from, salt, MPI_COMM_WORLD, &status);
      MPI_Recv(&turn, 1, MPI_INT, from, salt, MPI_COMM_WORLD, &status);
      break;
    case 3:
      for (; !found; usleep(50)) MPI_Iprobe(from, salt, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
      MPI_Recv(&turn, 1, MPI_INT, from, salt, MPI_COMM_WORLD, &status);
      break;
    case 4:
      MPI_Mprobe(from, salt, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
      MPI_Mrecv(&turn, 1, MPI_INT, &message, &status);
      break;
    default:
      for (; !found; usleep(50)) MPI_Improbe(from, salt, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
      MPI_Mrecv(&turn, 1, MPI_INT, &message, &status);
  }
  check(turn == value(from, rank, 0, salt) && status.MPI_SOURCE == from && status.MPI_TAG == salt);
}

/* One rank after the other waits for the exchange before it lets the next one go on. */
static void in_a_row(void) {
  struct exchange x = make(MPI_COMM_WORLD, 9000);
  for (int round = 0; round < 6; ++round) {
    fill(&x, round);
    MPI_Start(&x.request);
    if (rank > 0) wait_for_turn(round, round);
    MPI_Wait(&x.request, MPI_STATUS_IGNORE);
    check(right(&x, round));
    if (rank + 1 < n) pass_on(round, round);
  }
  int mine = rank;
  MPI_Status status;
  fill(&x, 6);
  MPI_Start(&x.request);
  MPI_Sendrecv_replace(&mine, 1, MPI_INT, (rank + 1) % n, 3, (rank + n - 1) % n, 3, MPI_COMM_WORLD, &status);
  check(status.MPI_SOURCE == (rank + n - 1) % n && status.MPI_TAG == 3);
  check(mine == (rank + n - 1) % n);
  MPI_Wait(&x.request, MPI_STATUS_IGNORE);
  check(right(&x, 6));
  release(&x);
}

/* All ranks; each can leave it only when all have come. */
static void together(int how, struct exchange* y) {
  int one[64] = {0}, sum[64] = {0};
  MPI_Comm copy;
  switch (how) {
    case 0:
      MPI_Barrier(MPI_COMM_WORLD);
      break;
    case 1:
      one[0] = 1;
      MPI_Allreduce(one, sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      check(sum[0] == n);
      break;
    case 2:
      for (int i = 0; i < n; ++i) one[i] = rank;
      MPI_Alltoall(one, 1, MPI_INT, sum, 1, MPI_INT, MPI_COMM_WORLD);
      check(sum[n - 1] == n - 1);
      break;
    case 3:
      MPI_Comm_dup(MPI_COMM_WORLD, &copy);
      fill(y, how);
      MPI_Alltoall(y->out, y->count, MPI_INT, y->in, y->count, MPI_INT, copy);
      check(right(y, how));
      MPI_Comm_free(&copy);
      break;
    case 4:
      fill(y, how);
      MPI_Alltoall(y->out, y->count, MPI_INT, y->in, y->count, MPI_INT, MPI_COMM_WORLD);
      check(right(y, how));
      break;
    default:
      vector(y, MPI_COMM_NULL, how);
  }
}

/* Some ranks wait for the exchange before they join the others. */
static void before_and_after(void) {
  struct exchange x = make(MPI_COMM_WORLD, 9000), y = make(MPI_COMM_WORLD, 4100), z = make(MPI_COMM_WORLD, 30000);
  for (int round = 0; round < 10; ++round) {
    const int before = (rank + round) % 3 == 0;
    fill(&x, round);
    fill(&z, round + 40);
    MPI_Start(&x.request);
    MPI_Start(&z.request);
    if (before) MPI_Wait(&z.request, MPI_STATUS_IGNORE);
    if (before) MPI_Wait(&x.request, MPI_STATUS_IGNORE);
    together(round, &y);
    if (!before) MPI_Wait(&x.request, MPI_STATUS_IGNORE);
    if (!before) MPI_Wait(&z.request, MPI_STATUS_IGNORE);
    check(right(&x, round));
    check(right(&z, round + 40));
  }
  release(&x);
  release(&y);
  release(&z);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  know_ranks();
  if (argc > 1 && !strcmp(argv[1], "vector")) {
    among_vector_calls();
  } else {
    among_blocking_calls();
    in_a_row();
    before_and_after();
  }
  return report();
}
