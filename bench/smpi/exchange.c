/* An exchange as a program of sends, waits and releases says, timed on SimGrid's clock.
 *
 *   exchange alltoall BYTES        MPI_Alltoall, with the algorithm that smpirun is told to use
 *   exchange allgather BYTES       MPI_Allgather, likewise
 *   exchange barrier COUNT         the mean of COUNT calls of MPI_Barrier
 *   exchange PROGRAM               the program in a text file, written by program.py:
 *
 *     hocket-smpi 1 RANKS WINDOW BARRIER
 *     rank RANK SENDS RECEIVES
 *     s PHASE DST BYTES K R1 … RK  a send; it waits for a token from each of the ranks R
 *     r SRC BYTES K D1 T1 … DK TK  a receive; on arrival send tokens: rank D may do its send number T
 *                                  (the rank itself: its own send T forwards what came, no message)
 *
 * A rank does its sends in order, at most WINDOW in flight. With BARRIER, it waits for everybody
 * between two phases instead. Prints "seconds S": from the first rank's start to the last one's end.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { data_tag = 1, token_tag = 2 };

struct peer {
  int rank, tag;
};
struct message {
  int peer, phase, bytes, count; /* count: tokens to wait for, or to send */
  struct peer* peers;
};

static struct message *sends, *receives;
static int send_count, receive_count, ranks, window, use_barrier;
static MPI_Request* requests;
static int request_count;
static MPI_Request* tokens;
static int token_count;

static void die(const char* what) {
  fprintf(stderr, "exchange: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count ? count : 1, size);
  if (!memory) die("out of memory");
  return memory;
}

static int number(FILE* file) {
  int value;
  if (fscanf(file, "%d", &value) != 1) die("the program ends early");
  return value;
}

static struct message read_message(FILE* file, char kind) {
  char word[8];
  struct message m = {0};
  if (fscanf(file, "%7s", word) != 1 || word[0] != kind) die("the program is not what was expected");
  if (kind == 's') m.phase = number(file);
  m.peer = number(file);
  m.bytes = number(file);
  m.count = number(file);
  m.peers = allocate((size_t)m.count, sizeof *m.peers);
  for (int i = 0; i < m.count; ++i) {
    m.peers[i].rank = number(file);
    if (kind == 'r') m.peers[i].tag = number(file);
  }
  return m;
}

/* Reads the part of this rank; skips those of the others. */
static void read_program(const char* path, int me) {
  char word[32];
  FILE* file = fopen(path, "r");
  if (!file) die("cannot open the program");
  if (fscanf(file, "%31s", word) != 1 || strcmp(word, "hocket-smpi") || number(file) != 1) die("not a program");
  ranks = number(file);
  window = number(file);
  use_barrier = number(file);
  for (int rank = 0; rank <= me; ++rank) {
    if (fscanf(file, "%31s", word) != 1 || strcmp(word, "rank") || number(file) != rank) die("ranks out of order");
    send_count = number(file);
    receive_count = number(file);
    sends = allocate((size_t)send_count, sizeof *sends);
    receives = allocate((size_t)receive_count, sizeof *receives);
    for (int i = 0; i < send_count; ++i) sends[i] = read_message(file, 's');
    for (int i = 0; i < receive_count; ++i) receives[i] = read_message(file, 'r');
    if (rank == me) continue;
    for (int i = 0; i < send_count; ++i) free(sends[i].peers);
    for (int i = 0; i < receive_count; ++i) free(receives[i].peers);
    free(sends);
    free(receives);
  }
  fclose(file);
}

static char stamp(int from, int to, int at) { return (char)(from * 7 + to * 13 + at); }

/* Requests: receives first, then sends, then the tokens awaited. */
static void post_receives(char** in, int* owner, int me) {
  int awaited = 0, released = 0;
  for (int i = 0; i < send_count; ++i)
    for (int j = 0; j < sends[i].count; ++j) awaited += sends[i].peers[j].rank != me;
  for (int i = 0; i < receive_count; ++i) released += receives[i].count;
  request_count = receive_count + send_count + awaited;
  requests = allocate((size_t)request_count, sizeof *requests);
  tokens = allocate((size_t)released, sizeof *tokens);
  for (int i = 0; i < receive_count; ++i)
    MPI_Irecv(in[i], receives[i].bytes, MPI_CHAR, receives[i].peer, data_tag, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < send_count; ++i) requests[receive_count + i] = MPI_REQUEST_NULL;
  for (int i = 0, k = 0; i < send_count; ++i)
    for (int j = 0; j < sends[i].count; ++j) {
      if (sends[i].peers[j].rank == me) continue;
      owner[k] = i;
      MPI_Irecv(NULL, 0, MPI_CHAR, sends[i].peers[j].rank, token_tag + i, MPI_COMM_WORLD,
                &requests[receive_count + send_count + k]);
      ++k;
    }
}

static void exchange(char** out, const int* owner, int* missing, int me) {
  int next = 0, flying = 0;
  for (;;) {
    while (next < send_count && missing[next] == 0 && flying < window) {
      MPI_Isend(out[next], sends[next].bytes, MPI_CHAR, sends[next].peer, data_tag, MPI_COMM_WORLD,
                &requests[receive_count + next]);
      ++next;
      ++flying;
    }
    int done;
    MPI_Waitany(request_count, requests, &done, MPI_STATUS_IGNORE);
    if (done == MPI_UNDEFINED) {
      if (next < send_count) die("the program waits for ever");
      break;
    }
    if (done < receive_count) {
      const struct message* m = &receives[done];
      for (int i = 0; i < m->count; ++i)
        if (m->peers[i].rank == me)
          --missing[m->peers[i].tag];
        else
          MPI_Isend(NULL, 0, MPI_CHAR, m->peers[i].rank, token_tag + m->peers[i].tag, MPI_COMM_WORLD,
                    &tokens[token_count++]);
    } else if (done < receive_count + send_count) {
      --flying;
    } else {
      --missing[owner[done - receive_count - send_count]];
    }
  }
}

static void exchange_by_phases(char** out) {
  int last = -1, all;
  for (int i = 0; i < send_count; ++i) last = sends[i].phase > last ? sends[i].phase : last;
  MPI_Allreduce(&last, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (int phase = 0, i = 0; phase <= all; ++phase) {
    for (; i < send_count && sends[i].phase == phase; ++i)
      MPI_Send(out[i], sends[i].bytes, MPI_CHAR, sends[i].peer, data_tag, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Waitall(receive_count, requests, MPI_STATUSES_IGNORE);
}

static double run_program(const char* path, int me) {
  read_program(path, me);
  char **out = allocate((size_t)send_count, sizeof *out), **in = allocate((size_t)receive_count, sizeof *in);
  int *missing = allocate((size_t)send_count, sizeof *missing), awaited = 0;
  for (int i = 0; i < send_count; ++i) {
    out[i] = allocate((size_t)sends[i].bytes, 1);
    for (int b = 0; b < sends[i].bytes; ++b) out[i][b] = stamp(me, sends[i].peer, b);
    awaited += missing[i] = sends[i].count;
  }
  for (int i = 0; i < receive_count; ++i) in[i] = allocate((size_t)receives[i].bytes, 1);
  int* owner = allocate((size_t)awaited, sizeof *owner);
  post_receives(in, owner, me);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime(), first;
  if (use_barrier)
    exchange_by_phases(out);
  else
    exchange(out, owner, missing, me);
  double end = MPI_Wtime(), last;
  MPI_Waitall(token_count, tokens, MPI_STATUSES_IGNORE);
  for (int i = 0; i < receive_count; ++i)
    for (int b = 0; b < receives[i].bytes; ++b)
      if (in[i][b] != stamp(receives[i].peer, me, b)) die("a message arrived damaged");
  MPI_Allreduce(&start, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return last - first;
}

static double run_native(int bytes, int gather) {
  char *out = allocate((size_t)bytes, gather ? 1 : (size_t)ranks), *in = allocate((size_t)bytes, (size_t)ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime(), first;
  if (gather)
    MPI_Allgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
  else
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
  double end = MPI_Wtime(), last;
  MPI_Allreduce(&start, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return last - first;
}

static double run_barriers(int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < count; ++i) MPI_Barrier(MPI_COMM_WORLD);
  return (MPI_Wtime() - start) / count;
}

int main(int argc, char** argv) {
  int me, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ranks = size;
  if (argc < 2)
    die("usage: exchange alltoall BYTES | exchange allgather BYTES | exchange barrier COUNT | exchange PROGRAM");
  double seconds;
  if (argc == 3 && (!strcmp(argv[1], "alltoall") || !strcmp(argv[1], "allgather")))
    seconds = run_native(atoi(argv[2]), !strcmp(argv[1], "allgather"));
  else if (argc == 3 && !strcmp(argv[1], "barrier"))
    seconds = run_barriers(atoi(argv[2]));
  else
    seconds = run_program(argv[1], me);
  if (ranks != size) die("the program is for another number of ranks");
  if (me == 0) printf("seconds %.9f\n", seconds);
  MPI_Finalize();
  return 0;
}
