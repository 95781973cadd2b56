/* Errors that one rank can see alone, cell by cell: a call, its form, what is wrong, who gets it wrong, and whether
 * calls have come before. Who gets an error makes the call once more as it should be, so that all ranks have made it
 * once, whether the library has found the error or not. Right calls follow, every element checked. A cell has a
 * communicator of its own. Other ranks make their call meanwhile, or ("alone") when all errors have come back.
 * Usage: local_errors --list                        names every cell of this MPI, one a line
 *        local_errors FILE FROM BEFORE AFTER COUNT   makes the cells of FILE from line FROM on, each a name and perhaps
 *            "alone": AFTER right calls follow, BEFORE of them come before those of "after" cells, with messages of
 *            COUNT ints, some more in each, so that no schedule is kept from another
 * Rank 0 prints "begin CELL", then "cell CELL CLASSES WRONG SCHEDULED": the classes of the error on each rank (0: the
 * library has taken the call; -: this rank makes none), elements that were wrong, and how many of the right calls
 * Hocket has scheduled on each rank. "stuck CELL" and "crashed CELL" end the program. */
#include <execinfo.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "scheduled.h"

enum { MOST = 8, ROOT = 1, LONGEST_NAME = 100, SIZES = 64 };

#define ERRORS(X)                                                                                                    \
  X(none)                                                                                                            \
  X(negative_send_count)                                                                                             \
  X(negative_receive_count)                                                                                          \
  X(null_send_type)                                                                                                  \
  X(null_receive_type)                                                                                               \
  X(loose_send_type)                                                                                                 \
  X(loose_receive_type)                                                                                              \
  X(null_send_buffer)                                                                                                \
  X(null_receive_buffer)                                                                                             \
  X(alias) X(alias_alike) X(in_place_send) X(in_place_receive) X(in_place_both) X(null_counts) X(null_displacements) \
      X(null_types) X(own_sizes_differ) X(freed_operation) X(wrong_operation) X(negative_root) X(large_root)
enum error { ERRORS(NUMBER_OF) ALL_ERRORS };
static const char* const error_names[] = {ERRORS(WORD_OF)};

/* Ranks that get it wrong. The root, where there is one, is rank 1. */
#define CULPRITS(X) X(rank_0) X(rank_1) X(all)
enum culprit { CULPRITS(NUMBER_OF) ALL_CULPRITS };
static const char* const culprit_names[] = {CULPRITS(WORD_OF)};

#define TIMES(X) X(before) X(after)
enum when { TIMES(NUMBER_OF) ALL_TIMES };
static const char* const when_names[] = {TIMES(WORD_OF)};

struct cell {
  enum call call;
  enum form form;
  enum error error;
  enum culprit culprit;
  enum when when;
  int alone;
};

static void name_of(const struct cell* c, char* name) {
  snprintf(name, LONGEST_NAME, "%s/%s/%s/%s/%s", call_names[c->call], form_names[c->form], error_names[c->error],
           culprit_names[c->culprit], when_names[c->when]);
}

static int number_of(const char* name, const char* const* names, int count) {
  for (int i = 0; i < count; ++i)
    if (strcmp(name, names[i]) == 0) return i;
  fprintf(stderr, "local_errors: no '%s'\n", name);
  exit(2);
}

static struct cell cell_of(char* name) {
  char* part[6];
  for (int i = 0; i < 6; ++i) part[i] = strtok(i == 0 ? name : NULL, "/ \n");
  return (struct cell){.call = (enum call)number_of(part[0], call_names, ALL_CALLS),
                       .form = (enum form)number_of(part[1], form_names, ALL_FORMS),
                       .error = (enum error)number_of(part[2], error_names, ALL_ERRORS),
                       .culprit = (enum culprit)number_of(part[3], culprit_names, ALL_CULPRITS),
                       .when = (enum when)number_of(part[4], when_names, ALL_TIMES),
                       .alone = part[5] != NULL};
}

static int rank, ranks, count;
static int *out, *in, numbers[4][MOST];
static MPI_Aint bytes[2][MOST];
static MPI_Datatype types[2][MOST], loose;

static int reduces_to_blocks(enum call call) { return call == reduce_scatter || call == reduce_scatter_block; }

/* Right ones. */
static struct arguments arguments_of(enum call call) {
  const int whole = is(call, OPERATION) && !reduces_to_blocks(call) ? ranks : 1;
  for (int i = 0; i < MOST; ++i) {
    numbers[0][i] = numbers[1][i] = whole * count;
    numbers[2][i] = numbers[3][i] = i * count * (is(call, TYPES) ? (int)sizeof(int) : 1);
    bytes[0][i] = bytes[1][i] = i * count * (MPI_Aint)sizeof(int);
    types[0][i] = types[1][i] = MPI_INT;
  }
  return (struct arguments){
      .send = {.buffer = out, .counts = numbers[0], .places = numbers[2], .far = bytes[0], .types = types[0]},
      .receive = {.buffer = in, .counts = numbers[1], .places = numbers[3], .far = bytes[1], .types = types[1]},
      .op = MPI_SUM,
      .root = ROOT};
}

/* Gets one thing wrong; 0: this call has no such thing on this rank. Of arrays the last entry is wrong. */
static int get_wrong(enum call call, enum error error, struct arguments* a) {
  const int one_buffer = is(call, ONE_BUFFER), reduction = is(call, OPERATION),
            at_root = !is(call, ROOTED) || rank == ROOT;
  const int gathers = is(call, SAME), sends = is(call, ROOTED) && !gathers && !reduction && !one_buffer ? at_root : 1;
  const int receives = one_buffer ? 0 : is(call, ROOTED) && (gathers || reduction) ? at_root : 1;
  const int last = (is(call, NEIGHBOURS) ? 2 : ranks) - 1;
  const int send_entry = is(call, SENDS) ? last : 0, receive_entry = is(call, RECEIVES) ? last : 0;
  switch (error) {
    case negative_send_count:
      a->send.counts[send_entry] = -1;
      if (reduction) a->receive.counts[receive_entry] = -1;
      return sends;
    case negative_receive_count:
      a->receive.counts[receive_entry] = -1;
      return receives && !reduction;
    case null_send_type:
      a->send.types[is(call, TYPES) ? send_entry : 0] = MPI_DATATYPE_NULL;
      return sends;
    case null_receive_type:
      a->receive.types[is(call, TYPES) ? receive_entry : 0] = MPI_DATATYPE_NULL;
      return receives && !reduction;
    case loose_send_type:
      a->send.types[is(call, TYPES) ? send_entry : 0] = loose;
      return sends;
    case loose_receive_type:
      a->receive.types[is(call, TYPES) ? receive_entry : 0] = loose;
      return receives && !reduction;
    case null_send_buffer:
      a->send.buffer = NULL;
      return sends;
    case null_receive_buffer:
      a->receive.buffer = NULL;
      return receives;
    case alias:
      a->send.buffer = a->receive.buffer;
      return sends && receives;
    case alias_alike: /* of the very same arrays, where there are two; of a root the own message in its place */
      a->receive.counts = a->send.counts;
      a->receive.places = a->send.places;
      a->receive.far = a->send.far;
      a->receive.types = a->send.types;
      if (gathers && !is(call, NEIGHBOURS))
        a->send.buffer = in + rank * count;
      else if (is(call, ROOTED) && !reduction && !one_buffer)
        a->receive.buffer = out + rank * count;
      else
        a->send.buffer = a->receive.buffer;
      return sends && receives;
    case own_sizes_differ:
      if (is(call, RECEIVES))
        a->receive.counts[rank] += 1;
      else
        a->receive.counts[0] += 1;
      return call == alltoall || call == alltoallv || call == alltoallw;
    case in_place_send: /* where it is allowed only the root, or nobody, has it */
      a->send.buffer = MPI_IN_PLACE;
      return sends && (one_buffer || is(call, NEIGHBOURS) || (is(call, ROOTED) && !receives));
    case in_place_receive:
      a->receive.buffer = MPI_IN_PLACE;
      return receives && !(is(call, ROOTED) && sends && !gathers && !reduction);
    case in_place_both:
      a->send.buffer = a->receive.buffer = MPI_IN_PLACE;
      return sends && receives;
    case null_counts:
      if (is(call, SENDS)) a->send.counts = NULL;
      if (is(call, RECEIVES)) a->receive.counts = NULL;
      return (sends && is(call, SENDS)) || (receives && is(call, RECEIVES));
    case null_displacements:
      if (is(call, SENDS)) a->send.places = NULL, a->send.far = NULL;
      if (is(call, RECEIVES)) a->receive.places = NULL, a->receive.far = NULL;
      return call != reduce_scatter && ((sends && is(call, SENDS)) || (receives && is(call, RECEIVES)));
    case null_types:
      a->send.types = NULL;
      return is(call, TYPES);
    case freed_operation:
      a->op = MPI_OP_NULL;
      return reduction;
    case wrong_operation: /* for numbers with a point */
      a->op = MPI_BAND;
      a->send.types[0] = MPI_FLOAT;
      return reduction;
    case negative_root:
      a->root = -7;
      return is(call, ROOTED);
    case large_root:
      a->root = ranks;
      return is(call, ROOTED);
    default:
      return 0;
  }
}

/* From its beginning to its end: the class of its error. */
static int make(enum call call, enum form form, const struct arguments* a, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  int class, code = begin_call(call, form, a, comm, &request);
  if (code == MPI_SUCCESS && form == persistent) code = MPI_Start(&request);
  if (code == MPI_SUCCESS && form != blocking) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && form == persistent) code = MPI_Request_free(&request);
  MPI_Error_class(code, &class);
  return class;
}

static int element(int from, int to, int i, int salt) { return from * 1000003 + to * 7919 + i * 31 + salt; }
static int neighbour(int side) { return (rank + (side ? 1 : ranks - 1)) % ranks; }

/* A call as it should be; how many elements of its result are not. */
static int make_right(enum call call, enum form form, MPI_Comm comm, int salt) {
  const int sides = is(call, NEIGHBOURS) ? 2 : ranks, at_root = rank == ROOT;
  for (int b = 0; b < ranks; ++b)
    for (int i = 0; i < count; ++i) {
      const int to = is(call, SAME) || is(call, ONE_BUFFER) ? 0 : is(call, NEIGHBOURS) ? neighbour(b) : b;
      out[b * count + i] = is(call, ONE_BUFFER) && !at_root ? -1 : element(rank, to, i, salt);
      in[b * count + i] = -1;
    }
  const struct arguments a = arguments_of(call);
  if (make(call, form, &a, comm) != MPI_SUCCESS) return 1000000;
  int wrong = 0,
      blocks = is(call, ONE_BUFFER) || call == scatter || call == scatterv || reduces_to_blocks(call) ? 1 : sides;
  if ((call == gather || call == gatherv || call == reduce) && !at_root) blocks = 0;
  for (int b = 0; b < blocks; ++b)
    for (int i = 0; i < count; ++i) {
      int expected = 0;
      if (is(call, OPERATION)) {
        for (int r = 0; r < ranks; ++r) expected += element(r, reduces_to_blocks(call) ? rank : b, i, salt);
      } else {
        const int from = is(call, NEIGHBOURS) ? neighbour(b) : blocks == 1 ? ROOT : b;
        expected = element(from, is(call, SAME) || is(call, ONE_BUFFER) ? 0 : rank, i, salt);
      }
      wrong += (is(call, ONE_BUFFER) ? out : in)[b * count + i] != expected;
    }
  return wrong;
}

static MPI_Comm fresh(enum call call) {
  MPI_Comm comm;
  if (is(call, NEIGHBOURS)) {
    const int sides[2] = {neighbour(0), neighbour(1)}, weights[2] = {1, 1};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sides, weights, 2, sides, weights, MPI_INFO_NULL, 0, &comm);
  } else {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

static char now[LONGEST_NAME]; /* the cell */

static void give_up(const char* how) {
  char line[LONGEST_NAME + 20];
  const int length = snprintf(line, sizeof line, "%s %s\n", how, now);
  if (write(1, line, (size_t)length) != length) _exit(4);
  _exit(3);
}
static void on_alarm(int number) {
  (void)number;
  give_up("stuck");
}
static void on_crash(int number) {
  (void)number;
  void* frames[40];
  backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
  give_up("crashed");
}

/* By messages alone. */
static void meet(void) {
  for (int other = 1; other < ranks; ++other) {
    if (rank == 0) MPI_Recv(NULL, 0, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == other) MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
  for (int other = 1; other < ranks; ++other) {
    if (rank == 0) MPI_Send(NULL, 0, MPI_BYTE, other, 2, MPI_COMM_WORLD);
    if (rank == other) MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

struct outcome {
  int class, wrong, scheduled;
};

static struct outcome make_cell(const struct cell* c, int before, int after_it) {
  MPI_Comm comm = fresh(c->call);
  struct outcome outcome = {-1, 0, 0};
  for (int i = 0; i < (c->when == after ? before : 0); ++i) {
    outcome.wrong += make_right(c->call, c->form, comm, i);
    if (c->form == nonblocking) MPI_Barrier(comm); /* from here on they can be scheduled */
  }
  struct arguments a = arguments_of(c->call);
  memset(in, 0, sizeof(int) * (size_t)(ranks * count));
  const int culprit = c->culprit == all || rank == (int)c->culprit;
  if (culprit && get_wrong(c->call, c->error, &a)) outcome.class = make(c->call, c->form, &a, comm);
  if (c->alone) meet();
  const uint64_t scheduled_before = scheduled_calls();
  /* What comes from a rank whose arguments were taken as they were is not known. */
  if (outcome.class != MPI_SUCCESS) make_right(c->call, c->form, comm, 100);
  for (int i = 0; i < after_it; ++i) outcome.wrong += make_right(c->call, c->form, comm, 200 + i);
  outcome.scheduled = (int)(scheduled_calls() - scheduled_before);
  MPI_Comm_free(&comm);
  return outcome;
}

static void tell(struct outcome own) {
  struct outcome of[MOST];
  if (rank > 0) {
    MPI_Send(&own, 3, MPI_INT, 0, 0, MPI_COMM_WORLD);
    return;
  }
  of[0] = own;
  for (int r = 1; r < ranks; ++r) {
    MPI_Recv(&of[r], 3, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    own.wrong += of[r].wrong;
  }
  printf("cell %s ", now);
  for (int r = 0; r < ranks; ++r) of[r].class < 0 ? printf("-,") : printf("%d,", of[r].class);
  printf(" %d ", own.wrong);
  for (int r = 0; r < ranks; ++r) printf("%d,", of[r].scheduled);
  printf("\n");
}

static void list(void) {
  char name[LONGEST_NAME];
  ranks = MOST, count = 1;
  for (struct cell c = {0}; c.call < ALL_CALLS; ++c.call)
    for (c.form = 0; c.form < ALL_FORMS; ++c.form)
      for (c.error = 0; c.error < ALL_ERRORS; ++c.error)
        for (c.culprit = 0; c.culprit < ALL_CULPRITS; ++c.culprit) {
          if (c.form == persistent && !PERSISTENT_COLLECTIVES) continue;
          int some = c.error == none && c.culprit == all;
          for (rank = 0; rank < 2; ++rank) {
            struct arguments a = arguments_of(c.call);
            some |= (c.culprit == all || rank == (int)c.culprit) && get_wrong(c.call, c.error, &a);
          }
          if (!some || (c.culprit == rank_1 && !is(c.call, ROOTED))) continue; /* as rank 0 */
          for (c.when = 0; c.when < ALL_TIMES; ++c.when) {
            name_of(&c, name);
            puts(name);
          }
        }
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--list") == 0) return list(), 0;
  if (argc != 6) return 2;
  int threads; /* so that nonblocking and persistent calls in which ranks forward are scheduled */
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  setvbuf(stdout, NULL, _IOLBF, 0);
  signal(SIGALRM, on_alarm);
  for (int i = 0; i < 4; ++i) signal((const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGABRT}[i], on_crash);
  const int first = atoi(argv[2]), before = atoi(argv[3]), after_it = atoi(argv[4]);
  const int least = atoi(argv[5]);
  /* Room for messages that are one element too long, which some libraries receive. */
  const size_t room = (size_t)ranks * (size_t)(least + SIZES + 1);
  out = calloc(room, sizeof(int)), in = calloc(room, sizeof(int));
  MPI_Type_contiguous(1, MPI_INT, &loose);
  FILE* const file = fopen(argv[1], "r");
  if (file == NULL || ranks > MOST) return 2;
  char line[LONGEST_NAME];
  for (int number = 0; fgets(line, sizeof line, file) != NULL; ++number) {
    if (number < first) continue;
    struct cell c = cell_of(line);
    name_of(&c, now);
    count = least + number % SIZES;
    if (rank == 0) printf("begin %s\n", now);
    alarm(15);
    tell(make_cell(&c, before, after_it));
    alarm(0);
  }
  fclose(file);
  if (rank == 0) printf("end\n");
  MPI_Type_free(&loose);
  free(out), free(in);
  return MPI_Finalize();
}
