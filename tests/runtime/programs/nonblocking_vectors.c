/* nonblocking_vectors ROUNDS BYTES: MPI_Ialltoallv, MPI_Ialltoallw and MPI_Ineighbor_alltoallv with other sizes in
 * every round, two at a time, between barriers; every byte is checked. Before each third round a blocking call of the
 * kind. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };
struct side {
  int counts[MOST], places[MOST];
  unsigned char* bytes;
};
static int rank, n;

static int length(int from, int to, int round, int bytes) {
  const int mixed = (from * 31 + to * 17 + round * (7 + from % 3 + to % 5)) % 16;
  return mixed == 0 ? 0 : bytes * mixed / 8;
}

static unsigned char value(int from, int to, int round, int i) {
  return (unsigned char)(from * 7 + to * 13 + round * 3 + i * 11 + 1);
}

static void fill(struct side* send, struct side* receive, int round, int bytes) {
  int to = 0, from = 0;
  for (int peer = 0; peer < n; ++peer) {
    send->places[peer] = to;
    receive->places[peer] = from;
    to += send->counts[peer] = length(rank, peer, round, bytes);
    from += receive->counts[peer] = length(peer, rank, round, bytes);
    for (int i = 0; i < send->counts[peer]; ++i) send->bytes[send->places[peer] + i] = value(rank, peer, round, i);
  }
  memset(receive->bytes, 0, (size_t)from);
}

static long wrong_in(const struct side* receive, int round) {
  long wrong = 0;
  for (int peer = 0; peer < n; ++peer)
    for (int i = 0; i < receive->counts[peer]; ++i)
      wrong += receive->bytes[receive->places[peer] + i] != value(peer, rank, round, i);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (argc != 3 || n > MOST) MPI_Abort(MPI_COMM_WORLD, 2);
  const int rounds = atoi(argv[1]), bytes = atoi(argv[2]);
  struct side send[3], receive[3];
  for (int k = 0; k < 3; ++k) {
    send[k].bytes = malloc(2 * (size_t)bytes * (size_t)n + 1);
    receive[k].bytes = malloc(2 * (size_t)bytes * (size_t)n + 1);
  }
  int peers[MOST], zero[MOST], ones[MOST];
  MPI_Datatype types[MOST];
  for (int peer = 0; peer < n; ++peer) peers[peer] = peer, types[peer] = MPI_BYTE, zero[peer] = 0, ones[peer] = 1;
  MPI_Comm everybody;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, peers, ones, n, peers, ones, MPI_INFO_NULL, 0, &everybody);
  long wrong = 0, all = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[3];
    for (int k = 0; k < 3; ++k) fill(&send[k], &receive[k], 3 * round + k, bytes);
    if (round % 3 == 0)
      MPI_Alltoallv(send[0].bytes, send[0].counts, send[0].places, MPI_BYTE, receive[0].bytes, receive[0].counts,
                    receive[0].places, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Ialltoallv(send[0].bytes, send[0].counts, send[0].places, MPI_BYTE, receive[0].bytes, receive[0].counts,
                   receive[0].places, MPI_BYTE, MPI_COMM_WORLD, &requests[0]);
    MPI_Ialltoallw(send[1].bytes, send[1].counts, send[1].places, types, receive[1].bytes, receive[1].counts,
                   receive[1].places, types, MPI_COMM_WORLD, &requests[1]);
    MPI_Ineighbor_alltoallv(send[2].bytes, send[2].counts, send[2].places, MPI_BYTE, receive[2].bytes,
                            receive[2].counts, receive[2].places, MPI_BYTE, everybody, &requests[2]);
    if (round % 2 == 0) {
      MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int done = 0, flag = 0; done < 3; done += flag)
        MPI_Testany(3, requests, &(int){0}, &flag, MPI_STATUS_IGNORE);
    }
    for (int k = 0; k < 3; ++k) wrong += wrong_in(&receive[k], 3 * round + k);
    /* Nobody has anything for anybody. */
    MPI_Ialltoallv(send[0].bytes, zero, zero, MPI_BYTE, receive[0].bytes, zero, zero, MPI_BYTE, MPI_COMM_WORLD,
                   &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(everybody);
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("ok %ld wrong\n", all);
  MPI_Comm_free(&everybody);
  for (int k = 0; k < 3; ++k) {
    free(send[k].bytes);
    free(receive[k].bytes);
  }
  MPI_Finalize();
  return all != 0;
}
