/* Calls MPI_Allgather and MPI_Allgatherv in many ways and checks every byte. Knows nothing of Hocket.
 * Usage: allgather_check [bytes...] ; prints "ok <checks>" from rank 0, exits 1 on a wrong byte. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

static unsigned char value(int origin, size_t i, int salt) {
  return (unsigned char)((unsigned)origin * 101u + (unsigned)(i * 2654435761u >> 13) + (unsigned)salt * 37u + 1u);
}

static void fill(unsigned char* at, int origin, size_t bytes, int salt) {
  for (size_t i = 0; i < bytes; ++i) at[i] = value(origin, i, salt);
}

static void compare(const unsigned char* at, int origin, size_t bytes, int salt) {
  for (size_t i = 0; i < bytes; ++i) check(at[i] == value(origin, i, salt));
}

static unsigned char* room(size_t bytes) {
  unsigned char* at = malloc(bytes + 1);
  memset(at, 0xAB, bytes + 1);
  return at;
}

static void equal(MPI_Comm comm, int bytes, int in_place, int salt) {
  int rank, n;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  unsigned char *in = room((size_t)bytes * n), *out = room(bytes);
  fill(in_place ? in + (size_t)rank * bytes : out, rank, bytes, salt);
  if (in_place)
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, bytes, MPI_BYTE, comm);
  else
    MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
  for (int o = 0; o < n; ++o) compare(in + (size_t)o * bytes, o, bytes, salt);
  check(in[(size_t)bytes * n] == 0xAB);
  free(in);
  free(out);
}

/* Contributions of every size from none up, back to front in memory, with gaps between them. */
enum { MIXED, ONE_ONLY, NOT_FIRST };
static void unequal(MPI_Comm comm, int bytes, int kind, int in_place, int salt) {
  int rank, n, gap = 5;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  int *counts = malloc(sizeof(int) * n), *places = malloc(sizeof(int) * n), end = gap;
  for (int o = n - 1; o >= 0; --o) {
    counts[o] = kind == MIXED ? (int)((long)bytes * (o * 5 % 7) / 3) : (kind == ONE_ONLY) == (o == n / 2) ? bytes : 0;
    if (kind == NOT_FIRST) counts[o] = o == 0 ? 0 : bytes;
    places[o] = end;
    end += counts[o] + gap;
  }
  unsigned char *in = room(end), *out = room(counts[rank]);
  fill(in_place ? in + places[rank] : out, rank, counts[rank], salt);
  MPI_Allgatherv(in_place ? MPI_IN_PLACE : out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, comm);
  for (int o = 0; o < n; ++o) {
    compare(in + places[o], o, counts[o], salt);
    for (int i = 1; i <= gap; ++i) check(in[places[o] - i] == 0xAB);
  }
  free(in);
  free(out);
  free(counts);
  free(places);
}

/* Every second element on one side or both, in blocks that another type describes on the other. */
static void strided(MPI_Comm comm, int elements, int in_place, int salt) {
  int rank, n;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  MPI_Datatype vector, spaced, solid;
  MPI_Type_vector(elements, 1, 2, MPI_SHORT, &vector);
  MPI_Type_create_resized(vector, 0, (MPI_Aint)(2 * sizeof(short) * elements), &spaced);
  MPI_Type_contiguous(elements, MPI_SHORT, &solid);
  MPI_Type_commit(&spaced);
  MPI_Type_commit(&solid);
  size_t most = 2 * (size_t)elements * (n + 1);
  short *in = (short*)room(sizeof(short) * most), *out = (short*)room(sizeof(short) * most);
  int *counts = malloc(sizeof(int) * n), *places = malloc(sizeof(int) * n);
  for (int o = 0; o < n; ++o) {
    counts[o] = o % 3 != 1;
    places[o] = o;
  }
  /* Strided on both sides, everybody contributes. */
  short* own = in_place ? in + 2 * (size_t)elements * rank : out;
  for (int i = 0; i < elements; ++i) own[2 * i] = (short)(value(rank, i, salt) * 3);
  MPI_Allgather(in_place ? MPI_IN_PLACE : out, 1, spaced, in, 1, spaced, comm);
  for (int o = 0; o < n; ++o)
    for (int i = 0; i < elements; ++i) {
      check(in[2 * ((size_t)elements * o + i)] == (short)(value(o, i, salt) * 3));
      check(in[2 * ((size_t)elements * o + i) + 1] == (short)0xABAB);
    }
  /* Solid to strided, some contribute nothing. */
  for (int i = 0; i < elements; ++i) out[i] = (short)(value(rank, i, salt + 1) * 3);
  MPI_Allgatherv(out, counts[rank], solid, in, counts, places, spaced, comm);
  for (int o = 0; o < n; ++o)
    for (int i = 0; i < elements; ++i)
      check(in[2 * ((size_t)elements * o + i)] == (short)(value(o, i, salt + counts[o]) * 3));
  /* Strided to solid. */
  for (int i = 0; i < elements; ++i) out[2 * i] = (short)(value(rank, i, salt + 2) * 3);
  MPI_Allgather(out, 1, spaced, in, elements, MPI_SHORT, comm);
  for (int o = 0; o < n; ++o)
    for (int i = 0; i < elements; ++i) check(in[(size_t)elements * o + i] == (short)(value(o, i, salt + 2) * 3));
  free(in);
  free(out);
  free(counts);
  free(places);
  MPI_Type_free(&vector);
  MPI_Type_free(&spaced);
  MPI_Type_free(&solid);
}

/* Each side gathers what the other contributes: left to the MPI library. */
static void between(int bytes) {
  int rank, n;
  MPI_Comm half, inter;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  int left = rank < n / 2, others = left ? n - n / 2 : n / 2, first = left ? n / 2 : 0;
  MPI_Comm_split(MPI_COMM_WORLD, left, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first, 5, &inter);
  unsigned char *in = room((size_t)bytes * others), *out = room(bytes);
  fill(out, rank, bytes, 3);
  MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, inter);
  for (int o = 0; o < others; ++o) compare(in + (size_t)o * bytes, first + o, bytes, 3);
  free(in);
  free(out);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/* A contribution that does not fit its block is an error that the caller's handler gets. */
static void wrong_size(int bytes) {
  MPI_Comm comm;
  int n;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_size(comm, &n);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  unsigned char *in = room((size_t)bytes * n), *out = room(2 * (size_t)bytes);
  check(MPI_Allgather(out, 2 * bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm) != MPI_SUCCESS);
  free(in);
  free(out);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, n;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm half, reverse, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, n - rank, &reverse);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm comms[] = {MPI_COMM_WORLD, half, reverse, copy, MPI_COMM_SELF};
  static const int all[] = {0, 1, 16383, 16384, 16385, 100003};
  const int sizes = argc > 1 ? argc - 1 : (int)(sizeof all / sizeof *all);
  for (int c = 0; c < (int)(sizeof comms / sizeof *comms); ++c)
    for (int k = 0; k < sizes; ++k)
      for (int in_place = 0; in_place < 2; ++in_place) {
        const int bytes = argc > 1 ? atoi(argv[k + 1]) : all[k], salt = c * 5 + k;
        equal(comms[c], bytes, in_place, salt);
        for (int kind = MIXED; kind <= NOT_FIRST; ++kind) unequal(comms[c], bytes, kind, in_place, salt + kind);
        if (bytes > 1 && bytes < 50000) strided(comms[c], bytes / 2, in_place, salt);
      }
  between(16385);
  if (getenv("CHECK_WRONG_SIZE") != NULL) wrong_size(20000);
  MPI_Comm_free(&half);
  MPI_Comm_free(&reverse);
  MPI_Comm_free(&copy);
  return report();
}
