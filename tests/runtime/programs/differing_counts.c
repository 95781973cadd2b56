/* Calls in which one rank gives other counts than the rest, in every form: each must end on all ranks, and right ones
 * after it must be right and scheduled as before.
 *
 * Usage: differing_counts FORMS CALLS [COUNTS [ODD [fatal]]] ; FORMS: letters of b(locking), n(onblocking) and
 * p(ersistent); CALLS: names with commas between; COUNTS, ODD: only these, by number ('-': all). Rank 0 prints a line
 * for each call: the form, the call, the counts of all ranks and of the odd one, whether that is so only of what it
 * sends, which rank it is; then for each rank the class of what came back, and a '!' where the communicator's handler
 * was not called once for an error, or without one. At last "ok <checks>". A call that does not end is named, and ends
 * the job. With `fatal`, an error of the root ends the job at the first call. */
#include <hocket.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"

enum { MOST = 9000, MOST_RANKS = 8, ROOT = 0, SECONDS = 20 };
enum form { BLOCKING, NONBLOCKING, PERSISTENT };

static int rank, n, *in, *out, *counts, *places, handled, fatal;
static MPI_Comm comm;
static char name[128];

static int value(int from, int to, int i) { return from * 1000003 + to * 7919 + i * 31; }

static void handler(MPI_Comm* on, int* code, ...) {
  (void)code;
  handled += *on == comm ? 1 : 1000;
}

static void hangs(int signal) {
  (void)signal;
  static const char text[] = " does not end\n";
  if (write(2, name, strlen(name)) < 0 || write(2, text, sizeof text - 1) < 0) _exit(3);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* How many ints this rank gives: to send, and to receive. */
struct counts {
  int send, receive;
};

/* The call in the form `form`, of which `named` has the name in small letters. */
#define CALL(Name, named, ...)                                                            \
  static int named(enum form form, struct counts c, MPI_Request* request) {               \
    (void)c;                                                                              \
    if (form == BLOCKING) return MPI_##Name(__VA_ARGS__, comm);                           \
    if (form == NONBLOCKING) return MPI_I##named(__VA_ARGS__, comm, request);             \
    return PERSISTENT_FORM(MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request)); \
  }
#if MPI_VERSION >= 4 || defined(OPEN_MPI)
#define PERSISTENT_FORM(call) call
#else
#define PERSISTENT_FORM(call) MPI_ERR_OTHER
#endif
CALL(Alltoall, alltoall, out, c.send, MPI_INT, in, c.receive, MPI_INT)
CALL(Allgather, allgather, out, c.send, MPI_INT, in, c.receive, MPI_INT)
CALL(Gather, gather, out, c.send, MPI_INT, in, c.receive, MPI_INT, ROOT)
CALL(Scatter, scatter, out, c.send, MPI_INT, in, c.receive, MPI_INT, ROOT)
CALL(Bcast, bcast, rank == ROOT ? out : in, c.send, MPI_INT, ROOT)
CALL(Allreduce, allreduce, out, in, c.send, MPI_INT, MPI_SUM)
CALL(Reduce, reduce, out, in, c.send, MPI_INT, MPI_SUM, ROOT)
CALL(Reduce_scatter_block, reduce_scatter_block, out, in, c.send, MPI_INT, MPI_SUM)

static int* of_all(int count) {
  for (int i = 0; i < n; ++i) counts[i] = count;
  return counts;
}
CALL(Reduce_scatter, reduce_scatter, out, in, of_all(c.send), MPI_INT, MPI_SUM)

static int* beside(int count) {
  for (int i = 0; i < n; ++i) places[i] = i * count;
  return places;
}
CALL(Allgatherv, allgatherv, out, c.send, MPI_INT, in, of_all(c.receive), beside(c.receive), MPI_INT)

/* One side of a call with arrays: counts, displacements in elements or bytes, types. */
static struct side {
  int counts[MOST_RANKS], places[MOST_RANKS];
  MPI_Aint bytes[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS];
} sides[2];
static struct side* side(int which, int count, int unit) {
  struct side* s = &sides[which];
  for (int i = 0; i < n; ++i) {
    s->counts[i] = count, s->places[i] = i * count * unit, s->types[i] = MPI_INT;
    s->bytes[i] = (MPI_Aint)sizeof(int) * i * count;
  }
  return s;
}
#define SIDE(at, which, count) at, side(which, count, 1)->counts, sides[which].places, MPI_INT
#define TYPED(at, which, count, PLACES) \
  at, side(which, count, sizeof(int))->counts, sides[which].PLACES, sides[which].types
CALL(Alltoallv, alltoallv, SIDE(out, 0, c.send), SIDE(in, 1, c.receive))
CALL(Alltoallw, alltoallw, TYPED(out, 0, c.send, places), TYPED(in, 1, c.receive, places))
CALL(Neighbor_alltoallv, neighbor_alltoallv, SIDE(out, 0, c.send), SIDE(in, 1, c.receive))
CALL(Neighbor_alltoallw, neighbor_alltoallw, TYPED(out, 0, c.send, bytes), TYPED(in, 1, c.receive, bytes))

/* How blocks go: from each rank to each, or what each has for rank 0 to all or the root; the root's to each, or the one
 * for rank 0 to all; sums. */
enum flow { EACH, GATHER, TO_ROOT, FROM_ROOT, BROADCAST, SUM, SUM_AT_ROOT, SUM_OF_OWN };
static const struct call {
  const char* name;
  int (*run)(enum form, struct counts, MPI_Request*);
  enum flow flow;
} calls[] = {
    {"alltoall", alltoall, EACH},
    {"allgather", allgather, GATHER},
    {"allgatherv", allgatherv, GATHER},
    {"gather", gather, TO_ROOT},
    {"scatter", scatter, FROM_ROOT},
    {"bcast", bcast, BROADCAST},
    {"allreduce", allreduce, SUM},
    {"reduce", reduce, SUM_AT_ROOT},
    {"reduce_scatter_block", reduce_scatter_block, SUM_OF_OWN},
    {"reduce_scatter", reduce_scatter, SUM_OF_OWN},
    {"alltoallv", alltoallv, EACH},
    {"alltoallw", alltoallw, EACH},
    {"neighbor_alltoallv", neighbor_alltoallv, EACH},
    {"neighbor_alltoallw", neighbor_alltoallw, EACH},
};
enum { CALLS = sizeof calls / sizeof *calls };

static const struct {
  int all, odd, only_sends;
} cases[] = {{3000, 3010, 0}, {3000, 2990, 0}, {3000, 9000, 0}, {9000, 3000, 0}, {3000, 3010, 1},
             {3000, 2990, 1}, {3000, 9000, 1}, {9000, 3000, 1}, {100, 110, 0},   {110, 100, 0},
             {1, 10, 0},      {10, 1, 0}}; /* in some all-reduces there are fewer elements than ranks */
enum { CASES = sizeof cases / sizeof *cases };

static int run(const struct call* call, enum form form, struct counts c) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = call->run(form, c, &request);
  if (form == BLOCKING || code != MPI_SUCCESS) return code;
  if (form == PERSISTENT) code = MPI_Start(&request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (form == PERSISTENT) MPI_Request_free(&request);
  return code;
}

/* With equal counts, every number checked. */
static void run_right(const struct call* call, enum form form, int count) {
  const int blocks = call->flow == SUM || call->flow == SUM_AT_ROOT ? 1 : n;
  for (int to = 0; to < n; ++to)
    for (int i = 0; i < count; ++i) out[to * count + i] = value(rank, to, i);
  memset(in, 0, sizeof(int) * (size_t)blocks * count);
  check(run(call, form, (struct counts){count, count}) == MPI_SUCCESS);
  int wrong = 0;
  for (int from = 0; from < n; ++from)
    for (int i = 0; i < count; ++i) {
      int sum = 0;
      if (call->flow >= SUM)
        for (int j = 0; j < n; ++j) sum += value(j, call->flow == SUM_OF_OWN ? rank : 0, i);
      if (call->flow == EACH) wrong += in[from * count + i] != value(from, rank, i);
      if (call->flow == GATHER) wrong += in[from * count + i] != value(from, 0, i);
      if (call->flow == TO_ROOT && rank == ROOT) wrong += in[from * count + i] != value(from, 0, i);
      if (call->flow == FROM_ROOT && from == ROOT) wrong += in[i] != value(ROOT, rank, i);
      if (call->flow == BROADCAST && from == ROOT && rank != ROOT) wrong += in[i] != value(ROOT, 0, i);
      if ((call->flow == SUM || call->flow == SUM_OF_OWN) && from == 0) wrong += in[i] != sum;
      if (call->flow == SUM_AT_ROOT && from == 0 && rank == ROOT) wrong += in[i] != sum;
    }
  check(!wrong);
}

/* A line from rank 0. */
static void tell(int code) {
  int mine = 0;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &mine);
  if (handled != (code != MPI_SUCCESS)) mine = -mine - 1;
  if (rank > 0) {
    MPI_Send(&mine, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    return;
  }
  printf("%s:", name);
  for (int from = 0; from < n; ++from) {
    if (from > 0) MPI_Recv(&mine, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf(" %d%s", mine < 0 ? -mine - 1 : mine, mine < 0 ? "!" : "");
  }
  printf("\n");
  fflush(stdout);
}

/* MPICH's launcher sometimes lets the others be when a rank ends the job: they are not to wait for it for long. */
static void wait_for_the_end(void) {
  signal(SIGALRM, SIG_DFL);
  alarm(5);
  for (;;) pause();
}

static void run_case(const struct call* call, enum form form, int number, int odd) {
  const int all = cases[number].all, other = cases[number].odd, only_sends = cases[number].only_sends;
  if (only_sends && call->flow >= BROADCAST) return; /* there is one count */
#ifdef OPEN_MPI /* refuses such a request, and any such all-to-all, on this rank: others wait, with or without Hocket \
                 */
  if (only_sends && (form == PERSISTENT || call->flow == EACH)) return;
#endif
  struct counts c = {all, all};
  if (rank == odd) c = (struct counts){other, only_sends ? all : other};
  snprintf(name, sizeof name, "%c %s %d %d%s %d", "bnp"[form], call->name, all, other, only_sends ? "s" : "", odd);
  for (int i = 0; i < n * MOST; ++i) out[i] = i;
  alarm(SECONDS);
  handled = 0;
  const int code = run(call, form, c);
  if (fatal && rank == ROOT) fprintf(stderr, "the root goes on\n");
  if (fatal) wait_for_the_end();
  tell(code);
  const uint64_t before = hocket_scheduled_calls();
  for (int round = 0; round < 2; ++round) run_right(call, form, all);
  if (getenv("SCHEDULED") != NULL) check(hocket_scheduled_calls() - before == 2);
  alarm(0);
}

/* Nonblocking calls of a kind and plan are scheduled when all ranks have met after the first. */
static void get_ready(const struct call* call) {
  for (int i = 0; i < 4; ++i) {
    const int count = i < 2 ? 3000 : 100;
    snprintf(name, sizeof name, "right %s", call->name);
    alarm(SECONDS);
    run_right(call, BLOCKING, count);
    run_right(call, NONBLOCKING, count);
    MPI_Barrier(comm);
    alarm(0);
  }
}

static int is_among(const char* wanted, const char* list) {
  const size_t length = strlen(wanted);
  for (; list != NULL; list = strchr(list, ',') != NULL ? strchr(list, ',') + 1 : NULL)
    if (strncmp(list, wanted, length) == 0 && (list[length] == ',' || list[length] == 0)) return 1;
  return 0;
}

/* Everybody is everybody's neighbour. */
static MPI_Comm complete_graph(void) {
  int all[MOST_RANKS], weights[MOST_RANKS];
  MPI_Comm graph;
  for (int i = 0; i < n; ++i) all[i] = i, weights[i] = 1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, all, weights, n, all, weights, MPI_INFO_NULL, 0, &graph);
  return graph;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Errhandler own;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  comm = complete_graph();
  MPI_Comm_create_errhandler(handler, &own);
  fatal = argc > 5;
  if (!fatal) MPI_Comm_set_errhandler(comm, own);
  signal(SIGALRM, hangs);
  in = calloc((size_t)n * MOST, sizeof(int));
  out = calloc((size_t)n * MOST, sizeof(int));
  counts = calloc((size_t)n, sizeof(int));
  places = calloc((size_t)n, sizeof(int));
  for (int i = 0; i < CALLS; ++i) {
    if (!is_among(calls[i].name, argv[2])) continue;
    get_ready(&calls[i]);
    for (enum form form = BLOCKING; form <= PERSISTENT; ++form) {
      if (strchr(argv[1], "bnp"[form]) == NULL) continue;
      for (int number = 0; number < CASES; ++number)
        for (int odd = 0; odd < 2; ++odd)
          if ((argc <= 3 || *argv[3] == '-' || atoi(argv[3]) == number) && (argc <= 4 || atoi(argv[4]) == odd))
            run_case(&calls[i], form, number, odd);
    }
  }
  MPI_Errhandler_free(&own);
  MPI_Comm_free(&comm);
  free(in);
  free(out);
  free(counts);
  free(places);
  return report();
}
