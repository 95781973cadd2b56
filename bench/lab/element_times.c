/* Times sorts and permutations of elements and checks the result.
 * Usage: element_times OPERATION METHOD ELEMENTS REPETITIONS
 * OPERATION: sort (METHOD radix or sample; random 32-bit keys) or permute (METHOD packed or chained; elements of
 * 8 bytes). ELEMENTS: of each rank. Prints "SECONDS" per repetition from rank 0.
 * Compile with `hocket info --sort`. */
#include <hocket_elements.h>
#include <hocket_sort.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rounds.h"

static int rank, ranks;

static void check(int code) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "element_times: %s\n", hocket_error_string(code));
  MPI_Abort(MPI_COMM_WORLD, 2);
}

/* A random number for every index (Steele et al., SplitMix64). */
static uint64_t random_number(uint64_t index) {
  uint64_t z = index * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* Where element i of 2^bits goes: a bijection, and nearly random. */
static uint64_t destination(uint64_t i, unsigned bits) {
  const uint64_t mask = ((uint64_t)1 << bits) - 1;
  for (int round = 0; round < 3; ++round) {
    i = (i * 0x9E3779B97F4A7C15u + 12345) & mask;
    i ^= i >> (bits / 2);
  }
  return i;
}

/* Seconds on the slowest rank. */
static double slowest(double seconds) {
  double most = 0;
  MPI_Reduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return most;
}

static int sort(int method, int64_t n, int round, double* seconds) {
  uint32_t* keys = malloc((size_t)n * sizeof *keys);
  for (int64_t i = 0; i < n; ++i) keys[i] = (uint32_t)random_number((uint64_t)((round * ranks + rank) * n + i));
  hocket_sort_options options;
  memset(&options, 0, sizeof options);
  options.method = method;
  hocket_sorted* sorted = NULL;
  settle();
  const double start = MPI_Wtime();
  check(hocket_sort(MPI_COMM_WORLD, &options, HOCKET_U32, n, keys, 0, NULL, &sorted));
  *seconds = MPI_Wtime() - start;
  settle();
  const uint32_t* mine = hocket_sorted_keys(sorted);
  int wrong = hocket_sorted_count(sorted) != n;
  for (int64_t i = 1; i < n; ++i) wrong |= mine[i - 1] > mine[i];
  /* The first key of the next rank is not below the last of this one. */
  const int next = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  uint32_t last_before = 0;
  MPI_Sendrecv(&mine[n - 1], 1, MPI_UINT32_T, next, 0, &last_before, 1, MPI_UINT32_T, before, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  wrong |= last_before > mine[0];
  hocket_free_sorted(&sorted);
  free(keys);
  return wrong;
}

static int permute(int method, int64_t n, int round, double* seconds) {
  unsigned bits = 0;
  while (((int64_t)1 << bits) < n * ranks) ++bits;
  if ((int64_t)1 << bits != n * ranks) {
    fprintf(stderr, "element_times: the elements of all ranks must be a power of two\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  uint64_t *elements = malloc((size_t)n * 8), *target = malloc((size_t)n * 8);
  int64_t* destinations = malloc((size_t)n * sizeof *destinations);
  for (int64_t i = 0; i < n; ++i) {
    destinations[i] = (int64_t)destination((uint64_t)(rank * n + i), bits);
    elements[i] = random_number((uint64_t)(destinations[i] + round));
  }
  settle();
  const double start = MPI_Wtime();
  check(hocket_permute(MPI_COMM_WORLD, method, 8, n, elements, destinations, n, target));
  *seconds = MPI_Wtime() - start;
  settle();
  int wrong = 0;
  for (int64_t i = 0; i < n; ++i) wrong |= target[i] != random_number((uint64_t)(rank * n + i + round));
  free(destinations);
  free(target);
  free(elements);
  return wrong;
}

int main(int argc, char** argv) {
  int wrong = 0, any_wrong;
  if (argc != 5) return 2;
  const int method = strcmp(argv[2], "radix") == 0    ? HOCKET_SORT_RADIX
                     : strcmp(argv[2], "sample") == 0 ? HOCKET_SORT_SAMPLE
                     : strcmp(argv[2], "packed") == 0 ? HOCKET_PACKED
                                                      : HOCKET_CHAINED;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int round = 0; round < atoi(argv[4]); ++round) {
    double seconds = 0;
    const int64_t n = atoll(argv[3]);
    wrong |= strcmp(argv[1], "sort") == 0 ? sort(method, n, round, &seconds) : permute(method, n, round, &seconds);
    seconds = slowest(seconds);
    if (rank == 0) {
      printf("%.6f\n", seconds);
      fflush(stdout);
    }
  }
  MPI_Allreduce(&wrong, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && any_wrong) fprintf(stderr, "WRONG DATA\n");
  MPI_Finalize();
  return any_wrong;
}
