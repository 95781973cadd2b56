/* hocket_elements.h from C: every byte checked. Prints "ok" from rank 0. */
#include <hocket_elements.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void need(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void success(int code, const char* what) {
  if (code != HOCKET_SUCCESS) fprintf(stderr, "%s\n", hocket_error_string(code));
  need(code == HOCKET_SUCCESS, what);
}

/* A number that no other position has at hand. */
static int64_t element(int64_t position) { return position * 1000003 + 17; }

/* Position p goes to p * step mod total, which is a permutation if total is prime to step. */
static void permute_and_take(int method, int64_t each, int64_t step, int shared) {
  const int64_t total = each * ranks, begin = each * rank;
  void* memory = NULL;
  if (shared) success(hocket_alloc(MPI_COMM_WORLD, (size_t)each * 8, &memory), "hocket_alloc");
  int64_t* source = shared ? memory : malloc((size_t)each * 8 + 1);
  int64_t *places = malloc((size_t)each * 8 + 1), *target = malloc((size_t)each * 8 + 1);
  for (int64_t i = 0; i < each; ++i) {
    source[i] = element(begin + i);
    places[i] = (begin + i) * step % total;
  }
  success(hocket_permute(MPI_COMM_WORLD, method, 8, each, source, places, each, target), "hocket_permute");
  MPI_Barrier(MPI_COMM_WORLD);
  /* Back again: what went to places[i] is element i. */
  int64_t* mine = malloc((size_t)each * 8 + 1);
  success(hocket_take(MPI_COMM_WORLD, method, 8, each, target, each, places, mine), "hocket_take");
  need(memcmp(mine, source, (size_t)each * 8) == 0, "take after permute");
  int64_t sums[2] = {0, 0}, all[2];
  for (int64_t i = 0; i < each; ++i) {
    sums[0] += source[i];
    sums[1] += target[i];
  }
  MPI_Allreduce(sums, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  need(all[0] == all[1], "sum after permute");
  if (shared) success(hocket_release(MPI_COMM_WORLD, &memory), "hocket_release");
  need(memory == NULL, "pointer after hocket_release");
  if (!shared) free(source);
  free(places);
  free(target);
  free(mine);
}

static void send_grouped_transpose(int method) {
  int to[6];
  char letters[6], *arrived = NULL;
  int64_t count = -1;
  for (int i = 0; i < 6; ++i) {
    to[i] = (rank + i) % ranks;
    letters[i] = (char)('a' + rank * 6 + i);
  }
  success(hocket_send_elements(MPI_COMM_WORLD, method, 1, 6, letters, to, &count, (void**)&arrived), "send_elements");
  int64_t at = 0;
  for (int src = 0; src < ranks; ++src)
    for (int i = 0; i < 6; ++i)
      if ((src + i) % ranks == rank) need(at < count && arrived[at++] == (char)('a' + src * 6 + i), "letter");
  need(at == count, "letters");
  hocket_free_elements((void**)&arrived);
  need(arrived == NULL, "hocket_free_elements");

  const int64_t lengths[] = {2, 0, 4}, places[] = {6 * rank + 4, -5, 6 * rank};
  char grouped[6];
  success(hocket_grouped_permute(MPI_COMM_WORLD, 1, 3, lengths, places, letters, 6, grouped), "grouped_permute");
  need(memcmp(grouped, letters + 2, 4) == 0 && memcmp(grouped + 4, letters, 2) == 0, "groups");

  int32_t *rows = malloc((size_t)ranks * 3 * 4), *columns = malloc((size_t)ranks * 3 * 4);
  for (int i = 0; i < 3 * ranks; ++i) rows[i] = 100 * (3 * rank + i / ranks) + i % ranks;
  success(hocket_transpose(MPI_COMM_WORLD, method, 4, 3, ranks, rows, 1, columns), "transpose");
  for (int i = 0; i < 3 * ranks; ++i) need(columns[i] == 100 * i + rank, "transposed element");
  free(rows);
  free(columns);
}

/* Wrong arguments of the last rank are refused on all, and what lies beside the target stays as it is. */
static void refuse(int method) {
  const int last = rank == ranks - 1;
  const char* bad;
  char a[4] = "abc", b[6] = "-----";
  const int64_t ok[3] = {3 * rank, 3 * rank + 1, 3 * rank + 2}, outside[3] = {0, 3 * ranks, 1},
                twice[3] = {3 * rank, 3 * rank, 3 * rank + 1};
  void* lost = a;
  struct {
    const char* text;
    int code;
  } tries[] = {
      {"is out of range", hocket_permute(MPI_COMM_WORLD, method, 1, 3, a, last ? outside : ok, 3, b + 1)},
      {"is repeated", hocket_permute(MPI_COMM_WORLD, method, 1, 3, a, last ? twice : ok, 3, b + 1)},
      {"destinations is NULL", hocket_permute(MPI_COMM_WORLD, method, 1, 3, a, last ? NULL : ok, 3, b + 1)},
      {"source is NULL", hocket_permute(MPI_COMM_WORLD, method, 1, 3, last ? NULL : a, ok, 3, b + 1)},
      {"target is NULL", hocket_take(MPI_COMM_WORLD, method, 1, 3, a, 3, ok, last ? NULL : b + 1)},
      {"-3 elements of source", hocket_permute(MPI_COMM_WORLD, method, 1, last ? -3 : 3, a, ok, 3, b + 1)},
      {"-2 elements of target", hocket_take(MPI_COMM_WORLD, method, 1, 3, a, last ? -2 : 3, ok, b + 1)},
      {"method 7", hocket_permute(MPI_COMM_WORLD, last ? 7 : method, 1, 3, a, ok, 3, b + 1)},
      {"elements of 0 bytes", hocket_permute(MPI_COMM_WORLD, method, last ? 0 : 1, 3, a, ok, 3, b + 1)},
      {"in all, the target", hocket_permute(MPI_COMM_WORLD, method, 1, last ? 2 : 3, a, ok, 3, b + 1)},
      {"is not of hocket_alloc()", hocket_release(MPI_COMM_WORLD, &lost)},
  };
  for (size_t i = 0; i < sizeof tries / sizeof *tries; ++i) need(tries[i].code == HOCKET_ERR_ARGUMENT, tries[i].text);
  bad = hocket_error_string(HOCKET_ERR_ARGUMENT);
  need(strstr(bad, "is not of hocket_alloc()") != NULL, bad);
  need(b[0] == '-' && b[4] == '-', "bytes beside the target");
  if (ranks > 1) {
    const int code = hocket_permute(MPI_COMM_WORLD, method, last ? 2 : 1, last ? 1 : 3, a, ok, last ? 1 : 3, b + 1);
    bad = hocket_error_string(code);
    need(code == HOCKET_ERR_ARGUMENT && strstr(bad, "ranks differ in width") != NULL, bad);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int method = HOCKET_AUTO; method <= HOCKET_CHAINED; ++method) {
    permute_and_take(method, 0, 1, 0);
    permute_and_take(method, 0, 1, 1);
    permute_and_take(method, 1001, 1000003, 0);
    permute_and_take(method, 1001, 1000003, 1);
    permute_and_take(method, 300007, 1000003, 0);
    send_grouped_transpose(method);
    refuse(method);
  }
  if (rank == 0) puts("ok 0 wrong");
  MPI_Finalize();
  return 0;
}
