/* hocket_sort.h from C: sorts keys with payload, and is refused what makes no sense. Rank 0 prints how many checks
 * have gone wrong on all ranks. */
#include <hocket_sort.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, wrong;

static void check(int right, const char* what) {
  if (right) return;
  ++wrong;
  fprintf(stderr, "rank %d: %s\n", rank, what);
}

static uint32_t key_of(int owner, int64_t i) { return ((uint32_t)i * 2654435761u + (uint32_t)owner * 40503u) % 1000; }

/* Who an element was: 6 bytes. */
typedef struct payload {
  uint16_t owner, index[2];
} payload;

static void count_step(const char* step, int done, int steps, void* context) {
  (void)step;
  check(done <= steps, "more steps than were announced");
  *(int*)context = done;
}

static void sorts(int method, int balance) {
  const int64_t count = rank % 2 == 0 ? 1000 + rank : 0;
  uint32_t* const keys = malloc(1 + (size_t)count * sizeof *keys);
  payload* const data = malloc(1 + (size_t)count * sizeof *data);
  for (int64_t i = 0; i < count; ++i) {
    keys[i] = key_of(rank, i);
    data[i] = (payload){(uint16_t)rank, {(uint16_t)i, 0}};
  }
  int steps_done = 0;
  const hocket_sort_options options = {
      .method = method, .balance = balance, .progress = count_step, .context = &steps_done};
  hocket_sorted* sorted = NULL;
  const int code = hocket_sort(MPI_COMM_WORLD, &options, HOCKET_U32, count, keys, sizeof *data, data, &sorted);
  check(code == HOCKET_SUCCESS, hocket_error_string(code));
  if (code != HOCKET_SUCCESS) return;

  const int64_t own = hocket_sorted_count(sorted);
  const uint32_t* const out = hocket_sorted_keys(sorted);
  const payload* const with = hocket_sorted_payload(sorted);
  int64_t total = 0;
  MPI_Allreduce(&own, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  int64_t given = 0;
  MPI_Allreduce(&count, &given, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  check(total == given, "elements are lost or new");
  if (balance == HOCKET_IN_PLACE) check(own == count, "not as many as were given");
  if (balance == HOCKET_EVEN) check(own == total / ranks + (rank < total % ranks), "not evenly");
  for (int64_t i = 0; i < own; ++i) {
    check(out[i] == key_of(with[i].owner, with[i].index[0]), "a key without its payload");
    if (i == 0) continue;
    const int before = with[i - 1].owner * 100000 + with[i - 1].index[0],
              here = with[i].owner * 100000 + with[i].index[0];
    check(out[i - 1] < out[i] || (out[i - 1] == out[i] && before < here), "out of order");
  }
  uint32_t last = own > 0 ? out[own - 1] : 0, least_before = 0;
  MPI_Exscan(&last, &least_before, 1, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD);
  if (rank > 0 && own > 0) check(least_before <= out[0], "out of order between ranks");

  const hocket_sort_step* steps = NULL;
  const size_t step_count = hocket_sorted_steps(sorted, &steps);
  check(step_count > 0 && steps[0].name[0] != '\0' && steps[0].seconds >= 0, "no steps");
  check(steps_done > 0, "no progress");
  check(hocket_sorted_imbalance(sorted) >= 1, "better than even");
  check(method == HOCKET_SORT_AUTO || hocket_sorted_method(sorted) == method, "another method");
  hocket_free_sorted(&sorted);
  check(sorted == NULL, "not freed");
  free(keys);
  free(data);
}

static int ascending(const void* left, const void* right) {
  const uint32_t a = *(const uint32_t*)left, b = *(const uint32_t*)right;
  return (a > b) - (a < b);
}

/* What the context counts: calls; negative: it sorts nothing. */
static int sort_keys(void* keys, int64_t count, void* context) {
  int* const calls = context;
  if (*calls < 0) return 0;
  ++*calls;
  qsort(keys, (size_t)count, sizeof(uint32_t), ascending);
  return 1;
}

static void sorts_by_own_function(int method, int begin) {
  enum { count = 20000 };
  uint32_t* const keys = malloc(count * sizeof *keys);
  for (uint32_t i = 0; i < count; ++i) keys[i] = (i * 7919 + (uint32_t)rank * 104729) * 2654435761u;
  int calls = begin;
  const hocket_sort_options options = {.method = method, .sort_keys = sort_keys, .context = &calls};
  hocket_sorted* sorted = NULL;
  check(hocket_sort(MPI_COMM_WORLD, &options, HOCKET_U32, count, keys, 0, NULL, &sorted) == HOCKET_SUCCESS, "no sort");
  const uint32_t* const out = hocket_sorted_keys(sorted);
  check(hocket_sorted_count(sorted) == count, "not evenly");
  for (int64_t i = 1; i < count; ++i) check(out[i - 1] <= out[i], "out of order");
  uint64_t own[2] = {0, 0}, all[2];
  for (int64_t i = 0; i < count; ++i) own[0] += keys[i], own[1] += out[i];
  MPI_Allreduce(own, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  check(all[0] == all[1], "keys are lost or new");
  if (method == HOCKET_SORT_SAMPLE) check(calls == begin ? begin < 0 : begin == 0, "sorted by another function");
  hocket_free_sorted(&sorted);
  free(keys);
}

/* `mine`: this rank is the one that asks for it. */
static void refused(const char* part, int code, hocket_sorted* sorted) {
  check(code == HOCKET_ERR_ARGUMENT && strstr(hocket_error_string(code), part) != NULL, part);
  if (code != HOCKET_ERR_ARGUMENT) fprintf(stderr, "%d %s\n", code, hocket_error_string(code));
  check(sorted == NULL, "a result of what was refused");
}

static void refuses(void) {
  const int last = rank == ranks - 1;
  const MPI_Comm comm = MPI_COMM_WORLD;
  const uint8_t keys[8] = {3, 1, 2};
  hocket_sorted* sorted = NULL;
  refused("-1 keys", hocket_sort(comm, NULL, HOCKET_U8, last ? -1 : 3, keys, 0, NULL, &sorted), sorted);
  refused("keys is NULL", hocket_sort(comm, NULL, HOCKET_U8, 3, last ? NULL : keys, 0, NULL, &sorted), sorted);
  refused("payload is NULL", hocket_sort(comm, NULL, HOCKET_U8, 3, keys, 1, last ? NULL : keys, &sorted), sorted);
  refused("sorted is NULL", hocket_sort(comm, NULL, HOCKET_U8, 3, keys, 0, NULL, last ? NULL : &sorted), sorted);
  refused("key type 11", hocket_sort(comm, NULL, last ? 11 : 0, 3, keys, 0, NULL, &sorted), sorted);
  refused("more than can be", hocket_sort(comm, NULL, HOCKET_U64, last ? INT64_MAX : 1, keys, 0, NULL, &sorted),
          sorted);
  refused("more than can be", hocket_sort(comm, NULL, HOCKET_U8, 1, keys, last ? SIZE_MAX : 1, keys, &sorted), sorted);
  refused("communicator is null", hocket_sort(MPI_COMM_NULL, NULL, HOCKET_U8, 3, keys, 0, NULL, &sorted), sorted);
  const hocket_sort_options bad[] = {
      {.method = 3}, {.balance = -1}, {.sampling = 2}, {.oversampling = -1}, {.digit_bits = 13}};
  const char* const names[] = {"method 3", "balance -1", "sampling 2", "oversampling -1", "digit_bits 13"};
  for (int i = 0; i < 5; ++i)
    refused(names[i], hocket_sort(comm, last ? &bad[i] : NULL, HOCKET_U8, 3, keys, 0, NULL, &sorted), sorted);
  if (ranks > 1) {
    const int type = last ? HOCKET_I8 : HOCKET_U8;
    refused("ranks differ in key type", hocket_sort(comm, NULL, type, 3, keys, 0, NULL, &sorted), sorted);
    const size_t width = last ? 2 : 1;
    refused("ranks differ in payload width", hocket_sort(comm, NULL, HOCKET_U8, 1, keys, width, keys, &sorted), sorted);
  }
  check(hocket_sort(comm, NULL, HOCKET_U8, 0, NULL, 4, NULL, &sorted) == HOCKET_SUCCESS, "nothing is sorted");
  check(hocket_sorted_count(sorted) == 0, "something of nothing");
  hocket_free_sorted(&sorted);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int method = HOCKET_SORT_AUTO; method <= HOCKET_SORT_SAMPLE; ++method)
    for (int balance = HOCKET_EVEN; balance <= HOCKET_AS_IT_FALLS; ++balance) sorts(method, balance);
  for (int method = HOCKET_SORT_RADIX; method <= HOCKET_SORT_SAMPLE; ++method) {
    sorts_by_own_function(method, 0);
    sorts_by_own_function(method, -1);
  }
  refuses();
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("ok %d wrong\n", all);
  MPI_Finalize();
  return all > 0;
}
