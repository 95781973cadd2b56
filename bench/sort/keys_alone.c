/* Sorts keys of 32 or 64 bits by hocket_sort() without a function of the program: times of the first call and of those
 * that follow, and memory beside the input.
 *
 *     mpiexec -n 2 keys_alone u32|u64 KEYS ROUNDS DISTRIBUTION...
 *
 * Rank 0 prints a line per distribution: its name, bytes per byte of keys, seconds of each round until the last rank is
 * through, and of each step, of the last round, what it took on the slowest rank and was to take. Results are checked.
 */
#include <hocket_sort.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static uint64_t next(uint64_t* state) { /* splitmix64 */
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* Key number i of n, of all ranks. */
static uint64_t key(const char* distribution, int64_t i, int64_t n, uint64_t* state) {
  if (strcmp(distribution, "sorted") == 0) return (uint64_t)i;
  if (strcmp(distribution, "reversed") == 0) return (uint64_t)(n - 1 - i);
  if (strcmp(distribution, "strided") == 0) return (uint64_t)(i * 1048583 % n); /* a prime */
  if (strcmp(distribution, "zipf") == 0) {
    const double u = (double)(next(state) >> 11) * 0x1p-53 + 0x1p-33;
    return (uint64_t)(1 / (u * u)) & 0xFFFFFFFFu;
  }
  return next(state);
}

/* Bytes of memory that this process has, and its part of what it shares with others. */
static int64_t resident(void) {
  char line[256];
  long long kib = 0;
  FILE* const file = fopen("/proc/self/smaps_rollup", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "Pss: %lld", &kib) == 1) break;
  if (file != NULL) fclose(file);
  return kib * 1024;
}

static int64_t most;
static void look(const char* step, int done, int steps, void* context) {
  (void)step, (void)done, (void)steps, (void)context;
  const int64_t now = resident();
  if (now > most) most = now;
}

static uint64_t at(const void* keys, int64_t i, size_t width) {
  return width == 4 ? ((const uint32_t*)keys)[i] : ((const uint64_t*)keys)[i];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 5) MPI_Abort(MPI_COMM_WORLD, 2);
  const size_t width = strcmp(argv[1], "u32") == 0 ? 4 : 8;
  const int64_t n = atoll(argv[2]), begin = n * rank / ranks, count = n * (rank + 1) / ranks - begin;
  const int rounds = atoi(argv[3]);
  void* const keys = malloc((size_t)count * width + 1);
  for (int d = 4; d < argc; ++d) {
    uint64_t state = (uint64_t)rank + 7, sums[2] = {0, 0}, all_sums[2];
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t value = key(argv[d], begin + i, n, &state);
      if (width == 4)
        ((uint32_t*)keys)[i] = (uint32_t)value;
      else
        ((uint64_t*)keys)[i] = value;
      sums[0] += at(keys, i, width);
    }
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* shared memory of its own: the first call is cold */
    if (rank == 0) printf("%s", argv[d]);
    const int64_t before = resident();
    most = before;
    for (int round = 0; round <= rounds; ++round) {
      hocket_sorted* sorted = NULL;
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      hocket_sort_options options = {0};
      if (round == rounds) options.progress = look; /* a round by itself: looking takes time */
      const int code = hocket_sort(comm, &options, width == 4 ? HOCKET_U32 : HOCKET_U64, count, keys, 0, NULL, &sorted);
      double took = MPI_Wtime() - start, longest;
      if (code != HOCKET_SUCCESS) {
        fprintf(stderr, "%s\n", hocket_error_string(code));
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
      MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (round == 0) {
        const int64_t have = hocket_sorted_count(sorted);
        const void* const result = hocket_sorted_keys(sorted);
        int wrong = 0, any;
        sums[1] = 0;
        for (int64_t i = 0; i < have; ++i) {
          wrong |= i > 0 && at(result, i - 1, width) > at(result, i, width);
          sums[1] += at(result, i, width);
        }
        MPI_Allreduce(sums, all_sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        wrong |= all_sums[0] != all_sums[1];
        MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (any) MPI_Abort(MPI_COMM_WORLD, 3);
      }
      if (round < rounds) {
        if (rank == 0) printf(" %.6f", longest);
      } else {
        double extra = (double)(most - before) / (double)(count * (int64_t)width), largest;
        MPI_Allreduce(&extra, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0) printf(" memory=%.3f method=%d", largest, hocket_sorted_method(sorted));
        const hocket_sort_step* steps;
        const size_t number = hocket_sorted_steps(sorted, &steps);
        for (size_t i = 0; i < number; ++i) {
          double seconds = steps[i].seconds, slowest;
          MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
          if (rank == 0) printf(" step:%s=%.6f/%.6f", steps[i].name, slowest, steps[i].predicted);
        }
        if (rank == 0) printf("\n");
      }
      hocket_free_sorted(&sorted);
    }
    MPI_Comm_free(&comm);
  }
  free(keys);
  MPI_Finalize();
  return 0;
}
