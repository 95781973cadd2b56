/* An all-to-all in which the ranks of a host act together, timed on SimGrid's clock.
 *
 *   aggregates LEADERS BYTES RANKS COPY MEET
 *
 * LEADERS: ranks of each host that carry its aggregates, each to some of the hosts, all messages at once; 0: one, which
 * calls MPI_Alltoall with the other leaders, by the algorithm that smpirun is told to use. BYTES: of a message. RANKS:
 * of a host, side by side. COPY: nanoseconds a rank needs to put its row into the host's memory, and again to take its
 * column out. MEET: nanoseconds it takes the ranks of a host to find out that all are there; zero-byte messages, by
 * which they do so here, must cost nothing.
 *
 * Up to 64 bytes a message all data is there, and checked. Prints "seconds S": from the first rank's start to the last
 * one's end.
 */
#include <string.h>

#include "together.h"

enum { most_checked = 64 };

static int me, ranks, local, here, host, hosts, bytes, leaders;
static long copy_time, meet_time;
static char *going_out, *coming_in; /* aggregates of this host, each of here² messages: by sender, then by receiver */
static MPI_Comm of_host, of_leaders;

static void sleep_for(long nanoseconds) {
  const struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  if (nanoseconds > 0) nanosleep(&time, NULL);
}

static void meet(void) {
  MPI_Barrier(of_host);
  sleep_for(meet_time);
}

static char stamp(int from, int to, int at) { return (char)(from * 7 + to * 13 + at); }

static size_t aggregate_bytes(void) { return (size_t)here * (size_t)here * (size_t)bytes; }

static void put(void) {
  sleep_for(copy_time);
  for (int to = 0; to < ranks && bytes <= most_checked; ++to) {
    char* at = going_out + (size_t)(to / here) * aggregate_bytes() + (size_t)(local * here + to % here) * (size_t)bytes;
    for (int b = 0; b < bytes; ++b) at[b] = stamp(me, to, b);
  }
}

static void take(void) {
  sleep_for(copy_time);
  int wrong = 0;
  for (int from = 0; from < ranks && bytes <= most_checked; ++from) {
    const char* aggregates = from / here == host ? going_out : coming_in;
    const char* at =
        aggregates + (size_t)(from / here) * aggregate_bytes() + (size_t)(from % here * here + local) * (size_t)bytes;
    for (int b = 0; b < bytes; ++b) wrong |= at[b] ^ stamp(from, me, b);
  }
  if (wrong) die("a message arrived damaged");
}

/* Hosts at one distance are served by ranks at the same place. */
static void carry_share(void) {
  MPI_Request* requests = allocate(2 * (size_t)hosts, sizeof *requests);
  const int size = (int)aggregate_bytes();
  int count = 0;
  for (int distance = 1 + local; distance < hosts; distance += leaders) {
    const int from = (host + hosts - distance) % hosts;
    MPI_Irecv(coming_in + (size_t)from * aggregate_bytes(), size, MPI_CHAR, from * here + local, 0, MPI_COMM_WORLD,
              &requests[count++]);
  }
  for (int distance = 1 + local; distance < hosts; distance += leaders) {
    const int to = (host + distance) % hosts;
    MPI_Isend(going_out + (size_t)to * aggregate_bytes(), size, MPI_CHAR, to * here + local, 0, MPI_COMM_WORLD,
              &requests[count++]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  free(requests);
}

static double exchange(void) {
  const double start = start_together();
  put();
  meet();
  if (leaders > 0 && local < leaders) carry_share();
  if (leaders == 0 && local == 0)
    MPI_Alltoall(going_out, (int)aggregate_bytes(), MPI_CHAR, coming_in, (int)aggregate_bytes(), MPI_CHAR, of_leaders);
  meet();
  take();
  return since_first(start);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 6) die("usage: aggregates LEADERS BYTES RANKS COPY MEET");
  leaders = atoi(argv[1]);
  bytes = atoi(argv[2]);
  here = atoi(argv[3]);
  copy_time = atol(argv[4]);
  meet_time = atol(argv[5]);
  if (here < 1 || ranks % here || leaders > here || bytes < 1) die("hosts cannot have so many ranks or leaders");
  hosts = ranks / here;
  host = me / here;
  local = me % here;
  MPI_Comm_split(MPI_COMM_WORLD, host, me, &of_host);
  MPI_Comm_split(MPI_COMM_WORLD, local == 0 ? 0 : MPI_UNDEFINED, me, &of_leaders);
  const size_t all = (size_t)hosts * aggregate_bytes();
  /* Ranks are threads of one process: the others use the memory of the first. */
  char* memory[2] = {NULL, NULL};
  if (local == 0 && bytes <= most_checked)
    for (int i = 0; i < 2; ++i) memory[i] = allocate(all, 1);
  else if (local == 0)
    for (int i = 0; i < 2; ++i) memory[i] = SMPI_SHARED_MALLOC(all);
  MPI_Bcast(memory, sizeof memory, MPI_BYTE, 0, of_host);
  going_out = memory[0];
  coming_in = memory[1];
  const double seconds = exchange();
  if (me == 0) printf("seconds %.9f\n", seconds);
  MPI_Finalize();
  return 0;
}
