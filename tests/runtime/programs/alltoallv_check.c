/* Calls MPI_Alltoallv with sizes that change from call to call, or on which ranks disagree, and checks every byte.
 * Knows nothing of Hocket.
 * Usage: alltoallv_check bytes [what...] ; `bytes`: the largest message. Without `what`, all of turns changing
 * lopsided disagree; and truncate, which is to fail. Prints "ok <checks>" from rank 0, exits 1 on a wrong byte. */
#define _DEFAULT_SOURCE
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

enum { SPARSE, DENSE, ROW, COLUMN, OWN, NOTHING }; /* from rank 1 alone, to it alone, to oneself alone */

/* Bytes that everybody knows that `from` sends to `to`. */
static int size_of(int pattern, int from, int to, int most, int salt) {
  const uint32_t lot = mixed((uint32_t)from, (uint32_t)to, (uint32_t)salt);
  const int size = 1 + (int)(lot >> 3) % most;
  if (pattern >= ROW)
    return (pattern == ROW && from == 1) || (pattern == COLUMN && to == 1) || (pattern == OWN && from == to) ? size : 0;
  return pattern == DENSE || lot % 3 == 0 ? size : 0;
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
    s.send[i] = size_of(pattern, s.rank, i, most, salt);
    s.from[i] = s.send[i] > 0 ? s.room_out : INT_MAX;
    s.room_out += s.send[i];
  }
  for (int i = s.n; i-- > 0;) {
    s.receive[i] = size_of(pattern, i, s.rank, most, salt);
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

/* Other sizes in every call, more than are remembered, and the first ones again. */
static void changing(MPI_Comm comm, int most) {
  for (int i = 0; i < 70; ++i) exchange(comm, SPARSE, most / 20 + 1, 100 + i, i);
  for (int i = 0; i < 3; ++i) exchange(comm, SPARSE, most / 20 + 1, 100 + i, i);
}

static void turns(MPI_Comm comm, int most) {
  for (int i = 0; i < 6; ++i) exchange(comm, i % 2 ? SPARSE : DENSE, most, 200 + i % 2, i);
}

/* Ranks come one after the other. */
static void lopsided(MPI_Comm comm, int most) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < 3; ++i)
    for (int pattern = ROW; pattern <= NOTHING; ++pattern) {
      usleep((useconds_t)(rank * 2000));
      exchange(comm, pattern, most, 300, i);
    }
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
} parts[] = {{"turns", turns}, {"changing", changing}, {"lopsided", lopsided}, {"disagree", disagree}};

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
