/* Calls MPI_Alltoallv again and again on MPI_COMM_WORLD, checks every byte, and tells how often ranks agreed meanwhile:
 * the runtime counts its small reductions. Its types are counted here, between it and the MPI library.
 * Usage: vector_rounds BYTESxROUNDS|BYTEScROUNDS ... ; x: the same sizes in all rounds, c: other ones. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int matrices;

#define NEXT(name, ...) ((int (*)(__VA_ARGS__))(uintptr_t)dlsym(RTLD_NEXT, name))

/* A counter of the runtime; it is loaded when MPI is initialised. */
static unsigned long counted(const char* name) {
  void* runtime = dlopen(strchr(getenv("HOCKET_RUNTIME"), '/'), RTLD_NOLOAD | RTLD_LAZY);
  const uint64_t* counter = runtime != NULL ? dlsym(runtime, name) : NULL;
  if (counter == NULL) {
    fprintf(stderr, "no %s\n", name);
    exit(2);
  }
  return *counter;
}

/* Whoever puts all ranks' sizes together makes a type for them, of two ranks and a size. */
int PMPI_Type_commit(MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  matrices += bytes == 16;
  return NEXT("PMPI_Type_commit", MPI_Datatype*)(type);
}

static int size_of(int from, int to, int bytes, int salt) {
  const int thirds = (from * 5 + to * 3) % 4;
  return thirds == 0 ? 0 : thirds * bytes / 3 + salt;
}

static unsigned char value(int from, int to, int i, int round) {
  return (unsigned char)(from * 31 + to * 17 + i * 7 + round);
}

static long call(int rank, int n, int bytes, int salt, int round) {
  int counts[4][n], out_bytes = 0, in_bytes = 0;
  for (int i = 0; i < n; ++i) {
    counts[0][i] = size_of(rank, i, bytes, salt), counts[1][i] = out_bytes, out_bytes += counts[0][i];
    counts[2][i] = size_of(i, rank, bytes, salt), counts[3][i] = in_bytes, in_bytes += counts[2][i];
  }
  unsigned char *out = malloc((size_t)out_bytes + 1), *in = malloc((size_t)in_bytes + 1);
  for (int to = 0; to < n; ++to)
    for (int i = 0; i < counts[0][to]; ++i) out[counts[1][to] + i] = value(rank, to, i, round);
  const unsigned long reductions = counted("hocket_agreements"), bytes_before = counted("hocket_agreed_bytes");
  matrices = 0;
  MPI_Alltoallv(out, counts[0], counts[1], MPI_BYTE, in, counts[2], counts[3], MPI_BYTE, MPI_COMM_WORLD);
  if (rank == 0)
    printf("call %d reductions %lu bytes %lu matrices %d\n", bytes, counted("hocket_agreements") - reductions,
           counted("hocket_agreed_bytes") - bytes_before, matrices);
  long wrong = 0;
  for (int from = 0; from < n; ++from)
    for (int i = 0; i < counts[2][from]; ++i) wrong += in[counts[3][from] + i] != value(from, rank, i, round);
  free(in), free(out);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, n;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  long wrong = 0, all = 0;
  for (int a = 1; a < argc; ++a) {
    int bytes, rounds;
    char kind;
    if (sscanf(argv[a], "%d%c%d", &bytes, &kind, &rounds) != 3) return 2;
    for (int round = 0; round < rounds; ++round) wrong += call(rank, n, bytes, kind == 'c' ? round : 0, round);
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s %ld wrong\n", all ? "wrong" : "ok", all);
  MPI_Finalize();
  return all != 0;
}
