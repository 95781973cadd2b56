/* An exchange as a program of sends, waits and releases says, timed on SimGrid's clock.
 *
 *   exchange alltoall BYTES        MPI_Alltoall, with the algorithm that smpirun is told to use
 *   exchange barrier COUNT         the mean of COUNT calls of MPI_Barrier
 *   exchange PROGRAM               the program in a text file, written by referee.py:
 *
 *     hocket-smpi 3 RANKS WINDOW BARRIER
 *     OFFSET               per rank, where in the file its part begins, in a field of ten
 *     rank RANK SENDS RECEIVES
 *     s PHASE DST BYTES K R1 … RK        a send; it waits for a token from each of the ranks R
 *     r PHASE SRC BYTES K D1 T1 … DK TK  a receive; on arrival send tokens: rank D may do its send number T
 *                                        (the rank itself: its own send T forwards what came, no message)
 *
 * A rank posts all its receives and does its sends in order, at most WINDOW in flight. With BARRIER, it waits for
 * everybody between two phases instead.
 *
 * Every byte is checked on arrival. Prints "seconds S": from the first rank's start to the last one's end.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void die(const char* what) {
  fprintf(stderr, "exchange: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count ? count : 1, size ? size : 1);
  if (!memory) die("out of memory");
  return memory;
}

/* All ranks at once, by SimGrid's clock: they leave a barrier one after the other. */
static double start_together(void) {
  double now = MPI_Wtime(), last;
  MPI_Allreduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const struct timespec left = {0, (long)((last + 0.5 - MPI_Wtime()) * 1e9)};
  nanosleep(&left, NULL);
  return MPI_Wtime();
}

/* From the first rank's start to the last one's end, which is now. */
static double since_first(double start) {
  double end = MPI_Wtime(), first, last;
  MPI_Allreduce(&start, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return last - first;
}

enum { data_tag = 1, most_token_slots = 32 };

struct peer {
  int rank, send;
};
struct message {
  int phase, peer, bytes, count; /* count: tokens to wait for, or to send */
  struct peer* peers;
};

static struct message *sends, *receives;
static int send_count, receive_count, ranks, window, use_barrier, me;
static int* missing; /* tokens that a send still waits for */
static MPI_Comm token_comm;
/* Requests: those for tokens, then one for each receive, then those of the sends under way. */
static int token_slots, request_count;
static MPI_Request* requests;
static char** buffers;
static MPI_Request* released;
static int released_count;

static int number(FILE* file) {
  int value;
  if (fscanf(file, "%d", &value) != 1) die("the program ends early");
  return value;
}

static struct message read_message(FILE* file, char kind) {
  char word[8];
  struct message m = {0};
  if (fscanf(file, "%7s", word) != 1 || word[0] != kind) die("the program is not what was expected");
  m.phase = number(file);
  m.peer = number(file);
  m.bytes = number(file);
  m.count = number(file);
  m.peers = allocate((size_t)m.count, sizeof *m.peers);
  for (int i = 0; i < m.count; ++i) {
    m.peers[i].rank = number(file);
    if (kind == 'r') m.peers[i].send = number(file);
  }
  return m;
}

/* Reads the part of this rank. */
static void read_program(const char* path) {
  char word[32];
  FILE* file = fopen(path, "r");
  if (!file) die("cannot open the program");
  if (fscanf(file, "%31s", word) != 1 || strcmp(word, "hocket-smpi") || number(file) != 3) die("not a program");
  ranks = number(file);
  window = number(file);
  use_barrier = number(file);
  long offset = 0;
  for (int rank = 0; rank <= me; ++rank)
    if (fscanf(file, "%ld", &offset) != 1) die("the program ends early");
  if (fseek(file, offset, SEEK_SET)) die("the program ends early");
  if (fscanf(file, "%31s", word) != 1 || strcmp(word, "rank") || number(file) != me) die("ranks out of order");
  send_count = number(file);
  receive_count = number(file);
  sends = allocate((size_t)send_count, sizeof *sends);
  receives = allocate((size_t)receive_count, sizeof *receives);
  for (int i = 0; i < send_count; ++i) sends[i] = read_message(file, 's');
  for (int i = 0; i < receive_count; ++i) receives[i] = read_message(file, 'r');
  fclose(file);
}

static char stamp(int from, int to, int at) { return (char)(from * 7 + to * 13 + at); }

static void check_bytes(const struct message* m, const char* data) {
  int wrong = 0;
  for (int b = 0; b < m->bytes; ++b) wrong |= data[b] ^ stamp(m->peer, me, b);
  if (wrong) die("a message arrived damaged");
}

static void post_token(int slot) {
  MPI_Irecv(NULL, 0, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, token_comm, &requests[slot]);
}

static void post_receive(int request, const struct message* m) {
  buffers[request] = allocate((size_t)m->bytes, 1);
  MPI_Irecv(buffers[request], m->bytes, MPI_CHAR, m->peer, data_tag, MPI_COMM_WORLD, &requests[request]);
}

/* Synchronous sends: SMPI calls short ordinary ones done before they have begun. */
static void start_send(int request, const struct message* m) {
  char* data = buffers[request] = allocate((size_t)m->bytes, 1);
  for (int b = 0; b < m->bytes; ++b) data[b] = stamp(me, m->peer, b);
  MPI_Issend(data, m->bytes, MPI_CHAR, m->peer, data_tag, MPI_COMM_WORLD, &requests[request]);
}

static void release(const struct message* m) {
  for (int i = 0; i < m->count; ++i)
    if (m->peers[i].rank == me)
      --missing[m->peers[i].send];
    else
      MPI_Isend(NULL, 0, MPI_CHAR, m->peers[i].rank, m->peers[i].send, token_comm, &released[released_count++]);
}

static void make_requests(void) {
  int awaited = 0, let_go = 0;
  missing = allocate((size_t)send_count, sizeof *missing);
  for (int i = 0; i < send_count; ++i) {
    missing[i] = sends[i].count;
    for (int j = 0; j < sends[i].count; ++j) awaited += sends[i].peers[j].rank != me;
  }
  for (int i = 0; i < receive_count; ++i) let_go += receives[i].count;
  released = allocate((size_t)let_go, sizeof *released);
  token_slots = awaited < most_token_slots ? awaited : most_token_slots;
  request_count = token_slots + receive_count + window;
  requests = allocate((size_t)request_count, sizeof *requests);
  buffers = allocate((size_t)request_count, sizeof *buffers);
  for (int i = 0; i < request_count; ++i) requests[i] = MPI_REQUEST_NULL;
}

static int free_send(void) {
  for (int request = token_slots + receive_count; request < request_count; ++request)
    if (requests[request] == MPI_REQUEST_NULL) return request;
  return -1;
}

static void exchange(void) {
  int next_send = 0, tokens_left = -token_slots;
  for (int i = 0; i < send_count; ++i)
    for (int j = 0; j < sends[i].count; ++j) tokens_left += sends[i].peers[j].rank != me;
  for (;;) {
    for (int request; next_send < send_count && missing[next_send] == 0 && (request = free_send()) >= 0;)
      start_send(request, &sends[next_send++]);
    int done;
    MPI_Status status;
    MPI_Waitany(request_count, requests, &done, &status);
    if (done == MPI_UNDEFINED) {
      if (next_send < send_count) die("the program waits for ever");
      break;
    }
    if (done < token_slots) {
      --missing[status.MPI_TAG];
      if (tokens_left-- > 0) post_token(done);
      continue;
    }
    if (done - token_slots < receive_count) {
      const struct message* m = &receives[done - token_slots];
      release(m);
      check_bytes(m, buffers[done]);
    }
    free(buffers[done]);
  }
}

static void exchange_by_phases(void) {
  const int send = token_slots + receive_count;
  int last = -1, all;
  for (int i = 0; i < send_count; ++i) last = sends[i].phase > last ? sends[i].phase : last;
  MPI_Allreduce(&last, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (int phase = 0, i = 0; phase <= all; ++phase) {
    for (; i < send_count && sends[i].phase == phase; ++i) {
      start_send(send, &sends[i]);
      MPI_Wait(&requests[send], MPI_STATUS_IGNORE);
      free(buffers[send]);
    }
    for (int r = 0; r < receive_count; ++r)
      if (receives[r].phase == phase) {
        MPI_Wait(&requests[token_slots + r], MPI_STATUS_IGNORE);
        check_bytes(&receives[r], buffers[token_slots + r]);
        free(buffers[token_slots + r]);
      }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static double run_program(const char* path) {
  read_program(path);
  MPI_Comm_dup(MPI_COMM_WORLD, &token_comm);
  make_requests();
  for (int slot = 0; slot < token_slots && !use_barrier; ++slot) post_token(slot);
  for (int i = 0; i < receive_count; ++i) post_receive(token_slots + i, &receives[i]);
  const double start = start_together();
  if (use_barrier)
    exchange_by_phases();
  else
    exchange();
  const double seconds = since_first(start);
  MPI_Waitall(released_count, released, MPI_STATUSES_IGNORE);
  return seconds;
}

/* The ranks' buffers lie on the same memory, which all of them together would not have: no byte is looked at. */
static double run_native(int bytes) {
  const size_t all = (size_t)bytes * (size_t)ranks;
  char *out = SMPI_SHARED_MALLOC(all), *in = SMPI_SHARED_MALLOC(all);
  const double start = start_together();
  MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
  return since_first(start);
}

static double run_barriers(int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < count; ++i) MPI_Barrier(MPI_COMM_WORLD);
  return (MPI_Wtime() - start) / count;
}

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ranks = size;
  if (argc < 2) die("usage: exchange alltoall BYTES | exchange barrier COUNT | exchange PROGRAM");
  double seconds;
  if (argc == 3 && !strcmp(argv[1], "alltoall"))
    seconds = run_native(atoi(argv[2]));
  else if (argc == 3 && !strcmp(argv[1], "barrier"))
    seconds = run_barriers(atoi(argv[2]));
  else
    seconds = run_program(argv[1]);
  if (ranks != size) die("the program is for another number of ranks");
  if (me == 0) printf("seconds %.9f\n", seconds);
  MPI_Finalize();
  return 0;
}
