/* Several threads at once, each on communicators of its own: first uses together, then rounds of calls, new
 * communicators and persistent requests. Usage: threads [threads] [rounds] [count] */
#include <pthread.h>
#include <sched.h>

#include "exchanges.h"

enum { most_threads = 8 };
static MPI_Comm comms[most_threads];
static pthread_barrier_t start;
static int rounds, count;

#if MPI_VERSION >= 4 || defined(OPEN_MPI)
static void persistent(MPI_Comm comm, int salt) {
  int rank, n;
  MPI_Request request;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  int *out = malloc(sizeof(int) * count * n), *in = malloc(sizeof(int) * count * n);
  if (MPI_Alltoall_init(out, count, MPI_INT, in, count, MPI_INT, comm, MPI_INFO_NULL, &request) != MPI_SUCCESS)
    MPI_Abort(comm, 3);
  for (int round = 0; round < 2; ++round) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < count; ++i) out[j * count + i] = element(rank, j, i, salt + round);
    MPI_Start(&request);
    if (round == 0) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      for (int done = 0; !done; sched_yield()) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < count; ++i) check(in[j * count + i] == element(j, rank, i, salt + round));
  }
  MPI_Request_free(&request);
  free(out);
  free(in);
}
#else
static void persistent(MPI_Comm comm, int salt) { exchange_all(comm, count, salt); }
#endif

static void* work(void* argument) {
  const int mine = (int)(size_t)argument;
  pthread_barrier_wait(&start);
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm copy;
    exchange_all(comms[mine], count, mine * 100 + round);
    MPI_Comm_dup(comms[mine], &copy);
    exchange_all(copy, count, mine * 100 + round + 50);
    persistent(copy, round);
    MPI_Comm_free(&copy);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("no threads\n");
    MPI_Finalize();
    return 0;
  }
  const int threads = argc > 1 ? atoi(argv[1]) : 4;
  rounds = argc > 2 ? atoi(argv[2]) : 3;
  count = argc > 3 ? atoi(argv[3]) : 300;
  pthread_t ids[most_threads];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < threads; ++i) MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -rank : rank, &comms[i]);
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)(size_t)i);
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
  return report();
}
