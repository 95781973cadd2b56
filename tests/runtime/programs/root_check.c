/* Calls MPI_Gather, MPI_Gatherv, MPI_Scatter and MPI_Scatterv with every root and checks every byte, gaps included.
 * Knows nothing of Hocket.
 * Usage: root_check [bytes...] ; prints "ok <checks>" from rank 0, exits 1 on a wrong byte. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

enum { ROUNDS = 3, GAP = 0xAB };

static MPI_Comm comm;
static int rank, n, root;

static unsigned char value(int from, int to, int i, int salt) {
  return (unsigned char)((unsigned)from * 101u + (unsigned)to * 59u + (unsigned)i * 7u + ((unsigned)i >> 8) * 13u +
                         (unsigned)salt * 37u + 1u);
}

/* As many bytes for each: `counts`; at `places`. A gap of 16 bytes behind the last one. */
struct layout {
  int *counts, *places, end;
};

static struct layout equal_layout(int bytes) {
  struct layout l = {malloc(sizeof(int) * n), malloc(sizeof(int) * n), n * bytes};
  for (int i = 0; i < n; ++i) {
    l.counts[i] = bytes;
    l.places[i] = i * bytes;
  }
  return l;
}

/* None for some, from the last to the first, with gaps between. */
static struct layout unequal_layout(int bytes) {
  struct layout l = {malloc(sizeof(int) * n), malloc(sizeof(int) * n), 0};
  for (int i = n; i-- > 0;) {
    l.counts[i] = i % 3 == 1 ? 0 : bytes / (1 + i % 4);
    l.places[i] = l.end;
    l.end += l.counts[i] + i % 2;
  }
  return l;
}

static void drop(struct layout* l) {
  free(l->counts);
  free(l->places);
}

static unsigned char* gaps(size_t bytes) {
  unsigned char* at = malloc(bytes + 16);
  memset(at, GAP, bytes + 16);
  return at;
}

/* What root has of all, or gets. */
static void fill_all(unsigned char* all, const struct layout* l, int gathered, int salt) {
  memset(all, GAP, (size_t)l->end + 16);
  for (int p = 0; p < n; ++p)
    for (int i = 0; i < l->counts[p]; ++i)
      all[l->places[p] + i] = gathered ? value(p, root, i, salt) : value(root, p, i, salt);
}

static void gathered(const struct layout* l, int unequal, int in_place, int salt) {
  const int own = l->counts[rank];
  unsigned char *from = gaps((size_t)own), *to = gaps((size_t)l->end), *expected = gaps((size_t)l->end);
  for (int i = 0; i < own; ++i) from[i] = value(rank, root, i, salt);
  const int stays = in_place && rank == root;
  if (stays) memcpy(to + l->places[rank], from, (size_t)own);
  const void* sent = stays ? MPI_IN_PLACE : from;
  if (unequal)
    check(MPI_Gatherv(sent, own, MPI_BYTE, rank == root ? to : NULL, rank == root ? l->counts : NULL,
                      rank == root ? l->places : NULL, rank == root ? MPI_BYTE : MPI_DATATYPE_NULL, root,
                      comm) == MPI_SUCCESS);
  else
    check(MPI_Gather(sent, own, MPI_BYTE, rank == root ? to : NULL, rank == root ? own : -7,
                     rank == root ? MPI_BYTE : MPI_DATATYPE_NULL, root, comm) == MPI_SUCCESS);
  if (rank == root) fill_all(expected, l, 1, salt);
  check(!memcmp(to, expected, (size_t)l->end + 16));
  free(from);
  free(to);
  free(expected);
}

static void scattered(const struct layout* l, int unequal, int in_place, int salt) {
  const int own = l->counts[rank];
  unsigned char *from = gaps((size_t)l->end), *to = gaps((size_t)own), *kept = gaps((size_t)l->end);
  if (rank == root) fill_all(from, l, 0, salt);
  memcpy(kept, from, (size_t)l->end);
  const int stays = in_place && rank == root;
  void* into = stays ? MPI_IN_PLACE : to;
  if (unequal)
    check(MPI_Scatterv(rank == root ? from : NULL, rank == root ? l->counts : NULL, rank == root ? l->places : NULL,
                       rank == root ? MPI_BYTE : MPI_DATATYPE_NULL, into, own, MPI_BYTE, root, comm) == MPI_SUCCESS);
  else
    check(MPI_Scatter(rank == root ? from : NULL, rank == root ? own : -7, rank == root ? MPI_BYTE : MPI_DATATYPE_NULL,
                      into, own, MPI_BYTE, root, comm) == MPI_SUCCESS);
  int wrong = 0;
  for (int i = 0; i < own + 16; ++i) wrong += to[i] != (i < own && !stays ? value(root, rank, i, salt) : GAP);
  check(!wrong && !memcmp(from, kept, (size_t)l->end));
  free(from);
  free(to);
  free(kept);
}

/* Every second short here and there, or pairs of them: other types of one signature. */
static void typed(int elements, int salt) {
  MPI_Datatype spaced, pair, mine;
  MPI_Type_vector(elements, 1, 2, MPI_SHORT, &spaced);
  MPI_Type_create_resized(spaced, 0, (MPI_Aint)(2 * sizeof(short)) * elements, &mine);
  MPI_Type_contiguous(2, MPI_SHORT, &pair);
  MPI_Type_commit(&mine);
  MPI_Type_commit(&pair);
  const int apart = rank % 2 == 0 || rank == root, by = apart ? 2 : 1;
  const MPI_Datatype type = apart ? mine : elements % 2 == 0 ? pair : MPI_SHORT;
  const int count = apart ? 1 : elements % 2 == 0 ? elements / 2 : elements;
  short *one = malloc(sizeof(short) * 2 * elements + 1), *all = malloc(sizeof(short) * 2 * elements * n + 1);
  memset(one, GAP, sizeof(short) * 2 * elements);
  memset(all, GAP, sizeof(short) * 2 * elements * n);
  for (int i = 0; i < elements; ++i) one[by * i] = (short)(3 * value(rank, root, i, salt));
  check(MPI_Gather(one, count, type, all, 1, mine, root, comm) == MPI_SUCCESS);
  int wrong = 0;
  for (int p = 0; rank == root && p < n; ++p)
    for (int i = 0; i < elements; ++i) {
      const short* at = all + 2 * (p * elements + i);
      wrong += at[0] != (short)(3 * value(p, root, i, salt)) || (unsigned short)at[1] != GAP * 257u;
    }
  memset(one, GAP, sizeof(short) * 2 * elements);
  check(MPI_Scatter(all, 1, mine, one, count, type, root, comm) == MPI_SUCCESS);
  for (int i = 0; i < elements; ++i) wrong += one[by * i] != (short)(3 * value(rank, root, i, salt));
  for (int i = 0; by == 2 && i < elements; ++i) wrong += (unsigned short)one[2 * i + 1] != GAP * 257u;
  check(!wrong);
  free(one);
  free(all);
  MPI_Type_free(&spaced);
  MPI_Type_free(&pair);
  MPI_Type_free(&mine);
}

static void every_call(int bytes, int salt) {
  struct layout equal = equal_layout(bytes), unequal = unequal_layout(bytes);
  for (int in_place = 0; in_place < 2; ++in_place) {
    gathered(&equal, 0, in_place, salt + in_place);
    scattered(&equal, 0, in_place, salt + in_place);
    for (int round = 0; round < ROUNDS; ++round) { /* the first tells the ranks the sizes */
      gathered(&unequal, 1, in_place, salt + round);
      scattered(&unequal, 1, in_place, salt + round);
    }
  }
  if (bytes > 1) typed(bytes / 2, salt);
  drop(&equal);
  drop(&unequal);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int me, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm half, reverse;
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - me, &reverse);
  const MPI_Comm comms[] = {MPI_COMM_WORLD, half, reverse, MPI_COMM_SELF};
  static const int all[] = {0, 1, 1000, 16385, 70007};
  const int sizes = argc > 1 ? argc - 1 : (int)(sizeof all / sizeof *all);
  for (int c = 0; c < (int)(sizeof comms / sizeof *comms); ++c) {
    comm = comms[c];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    for (int k = 0; k < sizes; ++k)
      for (root = 0; root < n; ++root) every_call(argc > 1 ? atoi(argv[k + 1]) : all[k], c * 5 + k);
  }
  MPI_Comm_free(&half);
  MPI_Comm_free(&reverse);
  return report();
}
