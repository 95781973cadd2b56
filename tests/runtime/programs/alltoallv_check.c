/* Calls MPI_Alltoallv in many ways and checks every byte. Knows nothing of Hocket.
 * Usage: alltoallv_check bytes [what...] ; `bytes`: the largest message. Without `what`, all of
 * sizes types place comms turns changing disagree negative; and truncate, which is to fail. Prints
 * "ok <checks>" from rank 0, exits 1 on a wrong byte. */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

static uint32_t mixed(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t hash = (a * 2654435761u ^ b) * 2246822519u ^ c;
  hash ^= hash >> 15;
  hash *= 2654435761u;
  return hash ^ hash >> 13;
}

static unsigned char value(int from, int to, int i, int salt) {
  return (unsigned char)(from * 31 + to * 17 + i * 7 + (i >> 8) + salt);
}

enum { SPARSE, DENSE, ONE_RECEIVER, EMPTY_ROWS, NOTHING, PATTERNS };

/* Bytes that everybody knows that `from` sends to `to`. */
static int size_of(int pattern, int from, int to, int n, int most, int salt) {
  const uint32_t lot = mixed((uint32_t)from, (uint32_t)to, (uint32_t)salt);
  const int size = 1 + (int)(lot >> 3) % most;
  switch (pattern) {
    case SPARSE:
      return lot % 3 == 0 ? size : 0;
    case DENSE:
      return size;
    case ONE_RECEIVER:
      return to == salt % n ? size : 0;
    case EMPTY_ROWS:
      return from % 2 == 0 || to == 0 ? 0 : size;
    default:
      return 0;
  }
}

typedef struct {
  int rank, n, room_out, room_in;
  int *send, *receive, *from, *to; /* counts and displacements */
} Sizes;

static int* ints(int n) { return malloc(sizeof(int) * (size_t)n + 1); }

/* Blocks in falling order of ranks on the receive side, with gaps; empty ones are nowhere. */
static Sizes sizes_of(MPI_Comm comm, int pattern, int most, int salt) {
  Sizes s;
  MPI_Comm_rank(comm, &s.rank);
  MPI_Comm_size(comm, &s.n);
  s.send = ints(s.n), s.receive = ints(s.n), s.from = ints(s.n), s.to = ints(s.n);
  s.room_out = s.room_in = 0;
  for (int i = 0; i < s.n; ++i) {
    s.send[i] = size_of(pattern, s.rank, i, s.n, most, salt);
    s.from[i] = s.send[i] > 0 ? s.room_out : INT_MAX;
    s.room_out += s.send[i];
  }
  for (int i = s.n; i-- > 0;) {
    s.receive[i] = size_of(pattern, i, s.rank, s.n, most, salt);
    s.to[i] = s.receive[i] > 0 ? s.room_in + 3 : INT_MAX;
    s.room_in += s.receive[i] + 3;
  }
  return s;
}

static void drop(Sizes* s) { free(s->send), free(s->receive), free(s->from), free(s->to); }

static unsigned char* room(size_t bytes) {
  unsigned char* memory = malloc(bytes + 1);
  memset(memory, 0xAB, bytes + 1);
  return memory;
}

static void fill(const Sizes* s, unsigned char* out, int salt) {
  for (int to = 0; to < s->n; ++to)
    for (int i = 0; i < s->send[to]; ++i) out[s->from[to] + i] = value(s->rank, to, i, salt);
}

static void compare(const Sizes* s, const unsigned char* in, int salt) {
  for (int from = 0; from < s->n; ++from) {
    const int at = s->to[from];
    if (s->receive[from] > 0) check(in[at - 1] == 0xAB && in[at - 2] == 0xAB && in[at - 3] == 0xAB);
    for (int i = 0; i < s->receive[from]; ++i) check(in[at + i] == value(from, s->rank, i, salt));
  }
  check(in[s->room_in] == 0xAB);
}

static void exchange(MPI_Comm comm, int pattern, int most, int salt, int fresh) {
  Sizes s = sizes_of(comm, pattern, most, salt);
  unsigned char *out = room(s.room_out), *in = room(s.room_in);
  fill(&s, out, fresh);
  MPI_Alltoallv(out, s.send, s.from, MPI_BYTE, in, s.receive, s.to, MPI_BYTE, comm);
  compare(&s, in, fresh);
  free(in), free(out);
  drop(&s);
}

/* Every pattern twice, with other data. */
static void sizes(MPI_Comm comm, int most) {
  for (int pattern = 0; pattern < PATTERNS; ++pattern)
    for (int round = 0; round < 2; ++round) exchange(comm, pattern, most, 1, round);
}

/* Every second short on the send side, pairs of shorts on the receive side: other counts, same bytes. */
static void types(MPI_Comm comm, int most) {
  MPI_Datatype strided, pair;
  MPI_Datatype vector;
  MPI_Type_vector(2, 1, 2, MPI_SHORT, &vector);
  MPI_Type_create_resized(vector, 0, 4 * sizeof(short), &strided);
  MPI_Type_contiguous(4, MPI_BYTE, &pair);
  MPI_Type_commit(&strided);
  MPI_Type_commit(&pair);
  Sizes s = sizes_of(comm, DENSE, most / 4 + 1, 2);
  short *out = (short*)room(8 * (size_t)s.room_out), *back = (short*)room(8 * (size_t)s.room_in);
  unsigned char* in = room(4 * (size_t)s.room_in);
  for (int to = 0; to < s.n; ++to)
    for (int i = 0; i < 4 * s.send[to]; ++i) out[4 * s.from[to] + i] = (short)(s.rank * 31 + to * 17 + i);
  for (int round = 0; round < 2; ++round) {
    MPI_Alltoallv(out, s.send, s.from, strided, in, s.receive, s.to, pair, comm);
    MPI_Alltoallv(out, s.send, s.from, strided, back, s.receive, s.to, strided, comm);
    for (int from = 0; from < s.n; ++from)
      for (int i = 0; i < 2 * s.receive[from]; ++i) {
        short got;
        memcpy(&got, in + 4 * (size_t)s.to[from] + sizeof(short) * (size_t)i, sizeof got);
        check(got == (short)(from * 31 + s.rank * 17 + 2 * i));
        check(back[4 * s.to[from] + 2 * i] == got);
        check(back[4 * s.to[from] + 2 * i + 1] == (short)0xABAB);
      }
  }
  free(out), free(in), free(back);
  drop(&s);
  MPI_Type_free(&vector);
  MPI_Type_free(&strided);
  MPI_Type_free(&pair);
}

/* MPI_IN_PLACE: as much comes from a rank as goes to it. */
static void place(MPI_Comm comm, int most) {
  int rank, n, total = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  int *counts = ints(n), *at = ints(n);
  for (int i = 0; i < n; ++i) {
    counts[i] = size_of(DENSE, rank < i ? rank : i, rank < i ? i : rank, n, most, 4);
    at[i] = total;
    total += counts[i];
  }
  unsigned char* in = room(total);
  for (int round = 0; round < 2; ++round) {
    for (int to = 0; to < n; ++to)
      for (int i = 0; i < counts[to]; ++i) in[at[to] + i] = value(rank, to, i, round);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, at, MPI_BYTE, comm);
    for (int from = 0; from < n; ++from)
      for (int i = 0; i < counts[from]; ++i) check(in[at[from] + i] == value(from, rank, i, round));
  }
  free(in), free(counts), free(at);
}

static void comms(MPI_Comm comm, int most) {
  int rank, n;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  MPI_Comm part, reverse, half, inter;
  MPI_Comm_split(comm, rank % 4 == 3, rank, &part);
  MPI_Comm_split(comm, 0, n - rank, &reverse);
  MPI_Comm_split(comm, rank < n / 2, rank, &half);
  for (int round = 0; round < 2; ++round) {
    exchange(part, DENSE, most, 5, round);
    exchange(reverse, SPARSE, most, 6, round);
    exchange(MPI_COMM_SELF, DENSE, most, 7, round);
  }
  /* Between the halves, all with all of the other side: left to the MPI library. */
  MPI_Intercomm_create(half, 0, comm, rank < n / 2 ? n / 2 : 0, 5, &inter);
  int others, *counts, *at;
  MPI_Comm_remote_size(inter, &others);
  counts = ints(others), at = ints(others);
  for (int i = 0; i < others; ++i) counts[i] = most, at[i] = i * most;
  unsigned char *out = room((size_t)others * most), *in = room((size_t)others * most);
  const int first = rank < n / 2 ? n / 2 : 0;
  for (int to = 0; to < others; ++to)
    for (int i = 0; i < most; ++i) out[at[to] + i] = value(rank, first + to, i, 0);
  MPI_Alltoallv(out, counts, at, MPI_BYTE, in, counts, at, MPI_BYTE, inter);
  for (int from = 0; from < others; ++from)
    for (int i = 0; i < most; ++i) check(in[at[from] + i] == value(first + from, rank, i, 0));
  free(out), free(in), free(counts), free(at);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  MPI_Comm_free(&part);
  MPI_Comm_free(&reverse);
}

/* Other sizes in every call, more than are remembered, and the first ones again. */
static void changing(MPI_Comm comm, int most) {
  for (int i = 0; i < 70; ++i) exchange(comm, SPARSE, most / 20 + 1, 100 + i, i);
  for (int i = 0; i < 3; ++i) exchange(comm, SPARSE, most / 20 + 1, 100 + i, i);
}

static void turns(MPI_Comm comm, int most) {
  for (int i = 0; i < 6; ++i) exchange(comm, i % 2 ? SPARSE : DENSE, most, 200 + i % 2, i);
}

/* Receivers that expect more than is sent: wrong by the standard, but the MPI libraries deliver. */
static void disagree(MPI_Comm comm, int most) {
  for (int round = 0; round < 3; ++round) {
    Sizes s = sizes_of(comm, DENSE, most, 8);
    for (int i = 0; i < s.n; ++i) s.send[i] = i == s.rank ? s.send[i] : s.send[i] / 2;
    unsigned char *out = room(s.room_out), *in = room(s.room_in);
    fill(&s, out, round);
    MPI_Alltoallv(out, s.send, s.from, MPI_BYTE, in, s.receive, s.to, MPI_BYTE, comm);
    for (int from = 0; from < s.n; ++from)
      for (int i = 0; i < (from == s.rank ? s.receive[from] : s.receive[from] / 2); ++i)
        check(in[s.to[from] + i] == value(from, s.rank, i, round));
    free(in), free(out);
    drop(&s);
  }
}

/* An error that every rank makes, and that the caller's handler gets. */
static void negative(MPI_Comm comm, int most) {
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  Sizes s = sizes_of(copy, DENSE, most, 9);
  unsigned char *out = room(s.room_out), *in = room(s.room_in);
  s.send[0] = -1;
  check(MPI_Alltoallv(out, s.send, s.from, MPI_BYTE, in, s.receive, s.to, MPI_BYTE, copy) != MPI_SUCCESS);
  free(in), free(out);
  drop(&s);
  MPI_Comm_free(&copy);
}

/* Receivers that expect less than is sent: the job ends. */
static void truncate_all(MPI_Comm comm, int most) {
  for (int round = 0; round < 2; ++round) {
    Sizes s = sizes_of(comm, DENSE, most, 8);
    unsigned char *out = room(s.room_out), *in = room(s.room_in);
    for (int i = 0; i < s.n; ++i) s.receive[i] = i == s.rank ? s.receive[i] : s.receive[i] / 2;
    MPI_Alltoallv(out, s.send, s.from, MPI_BYTE, in, s.receive, s.to, MPI_BYTE, comm);
    free(in), free(out);
    drop(&s);
  }
}

static const struct {
  const char* name;
  void (*run)(MPI_Comm, int);
} parts[] = {{"sizes", sizes}, {"types", types},       {"place", place},       {"comms", comms},
             {"turns", turns}, {"changing", changing}, {"disagree", disagree}, {"negative", negative}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int most = atoi(argv[1]);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    int wanted = argc == 2;
    for (int a = 2; a < argc; ++a) wanted |= strcmp(argv[a], parts[i].name) == 0;
    if (wanted) parts[i].run(MPI_COMM_WORLD, most);
  }
  if (argc == 3 && strcmp(argv[2], "truncate") == 0) truncate_all(MPI_COMM_WORLD, most);
  return report();
}
