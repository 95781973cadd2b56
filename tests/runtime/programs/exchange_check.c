/* Uses hocket.h in many ways and checks every byte. Prints "ok <checks>, 0 wrong" from rank 0.
 * Usage: exchange_check run [bytes]           sparse, empty and dense exchanges, several at once
 *        exchange_check refuse                wrong arguments: codes and texts, the same on all ranks
 *        exchange_check save PREFIX [seed]    a table into files
 *        exchange_check load PREFIX           runs it; refusals are printed by rank 0 as "refused: CODE TEXT"
 *        exchange_check each FILES            loads PREFIX for each line of FILES and counts what is refused */
#define _DEFAULT_SOURCE /* usleep */
#include <hocket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"

static int rank, ranks;
static long unit = 5000;

static void expect(int code, int wanted, int line) {
  ++checks;
  if (code == wanted) return;
  ++errors;
  fprintf(stderr, "rank %d: line %d: code %d, not %d: %s\n", rank, line, code, wanted, hocket_error_string(code));
}
#define EXPECT(call, wanted) expect(call, wanted, __LINE__)
#define OK(call) EXPECT(call, HOCKET_SUCCESS)

static unsigned char value(int from, int to, int64_t i, int salt) {
  return (unsigned char)((unsigned)from * 101u + (unsigned)to * 57u + (unsigned)(i * 2654435761u >> 11) +
                         (unsigned)salt * 31u + 1u);
}

/* Who sends how much to whom, by number; every rank knows it by heart. */
enum { NOTHING, ONE, SPARSE, DENSE, ALL_TO_FIRST, TO_ITSELF, PATTERNS };
static int64_t size_of(int pattern, int from, int to) {
  switch (pattern) {
    case ONE:
      return from == ranks - 1 && to == 0 ? 3 * unit + 1 : 0;
    case SPARSE:
      return (from * 7 + to * 3) % 4 == 1 && from % 3 != 2 ? 1 + unit * ((from + to) % 5) : 0;
    case DENSE:
      return unit / 7 * ((from * 13 + to * 5) % 11);
    case ALL_TO_FIRST:
      return to == 0 ? unit + from : 0;
    case TO_ITSELF:
      return from == to ? unit : 0;
    default:
      return 0;
  }
}

/* The destination vector, from the highest rank down, with an empty message in it. */
static int vector_of(int pattern, int* targets, int64_t* bytes) {
  int n = 0;
  for (int to = ranks - 1; to >= 0; --to) {
    const int64_t size = size_of(pattern, rank, to);
    if (size == 0 && to != rank / 2) continue;
    targets[n] = to;
    bytes[n++] = size;
  }
  return n;
}

struct run {
  hocket_table* table;
  int sends, receives, salt;
  const int *targets, *sources;
  const int64_t *out_bytes, *in_bytes;
  const void** out;
  void** in;
};

static struct run prepare(hocket_table* table, int salt) {
  struct run r = {.table = table, .salt = salt};
  OK(hocket_targets(table, &r.sends, &r.targets, &r.out_bytes));
  OK(hocket_sources(table, &r.receives, &r.sources, &r.in_bytes));
  r.out = calloc((size_t)r.sends + 1, sizeof *r.out);
  r.in = calloc((size_t)r.receives + 1, sizeof *r.in);
  for (int i = 0; i < r.sends; ++i) {
    unsigned char* out = r.out_bytes[i] > 0 ? malloc((size_t)r.out_bytes[i]) : NULL;
    for (int64_t k = 0; k < r.out_bytes[i]; ++k) out[k] = value(rank, r.targets[i], k, salt);
    r.out[i] = out;
  }
  for (int i = 0; i < r.receives; ++i) {
    unsigned char* in = malloc((size_t)r.in_bytes[i] + 1);
    memset(in, 0xAB, (size_t)r.in_bytes[i] + 1);
    r.in[i] = in;
  }
  return r;
}

static void inspect(const struct run* r) {
  int wrong_bytes = 0;
  for (int i = 0; i < r->receives; ++i) {
    const unsigned char* in = r->in[i];
    for (int64_t k = 0; k < r->in_bytes[i]; ++k) wrong_bytes += in[k] != value(r->sources[i], rank, k, r->salt);
    wrong_bytes += in[r->in_bytes[i]] != 0xAB;
    free(r->in[i]);
  }
  check(wrong_bytes == 0);
  for (int i = 0; i < r->sends; ++i) free((void*)r->out[i]);
  free(r->out);
  free(r->in);
}

/* The table against the pattern: partners, and every byte in exactly one row on either side. */
static void look_at(const hocket_table* table, int pattern) {
  hocket_info info;
  int n;
  const int* who;
  const int64_t* bytes;
  size_t rows;
  const hocket_phase* row;
  OK(hocket_get_info(table, &info));
  check(info.ranks == ranks && info.rank == rank && info.algorithm[0] != 0);
  check(info.bound_seconds <= info.lockstep_seconds * 1.0001);
  OK(hocket_sources(table, &n, &who, &bytes));
  int at = 0;
  for (int from = 0; from < ranks; ++from) {
    const int64_t size = size_of(pattern, from, rank);
    if (size == 0) continue;
    check(at < n && who[at] == from && bytes[at] == size);
    ++at;
  }
  check(at == n);
  OK(hocket_phases(table, &rows, &row));
  int64_t *out = calloc((size_t)ranks, sizeof *out), *in = calloc((size_t)ranks, sizeof *in);
  for (size_t i = 0; i < rows; ++i) {
    check(row[i].phase < info.phases && row[i].phase >= (i == 0 ? 0 : row[i - 1].phase));
    if (row[i].send_to >= 0) {
      check(row[i].send_offset + row[i].send_length <= size_of(pattern, rank, row[i].send_to));
      out[row[i].send_to] += row[i].send_length;
    }
    if (row[i].receive_from >= 0) {
      check(row[i].receive_offset + row[i].receive_length <= size_of(pattern, row[i].receive_from, rank));
      in[row[i].receive_from] += row[i].receive_length;
    }
  }
  check((int64_t)rows >= info.phases);
  for (int other = 0; other < ranks; ++other) {
    check(out[other] == (other == rank ? 0 : size_of(pattern, rank, other)));
    check(in[other] == (other == rank ? 0 : size_of(pattern, other, rank)));
  }
  free(out);
  free(in);
}

static void run(hocket_table* table, int salt) {
  struct run r = prepare(table, salt);
  OK(hocket_exchange(table, r.out, r.in));
  inspect(&r);
}

static hocket_table* scheduled(int pattern, uint64_t seed) {
  int* targets = malloc(sizeof(int) * ranks);
  int64_t* bytes = malloc(sizeof(int64_t) * ranks);
  const int n = vector_of(pattern, targets, bytes);
  hocket_table* table = NULL;
  OK(hocket_schedule(MPI_COMM_WORLD, n, targets, bytes, NULL, seed, &table));
  OK(hocket_check(table, n, targets, bytes));
  free(targets);
  free(bytes);
  return table;
}

static void run_all(void) {
  hocket_table* tables[PATTERNS];
  for (int pattern = 0; pattern < PATTERNS; ++pattern) {
    tables[pattern] = scheduled(pattern, 1);
    look_at(tables[pattern], pattern);
    for (int salt = 0; salt < 3; ++salt) run(tables[pattern], salt);
  }
  /* Several under way at once; ranks wait for them in different orders. */
  struct run r[PATTERNS];
  for (int pattern = 0; pattern < PATTERNS; ++pattern) {
    r[pattern] = prepare(tables[pattern], 7 + pattern);
    OK(hocket_exchange_start(tables[pattern], r[pattern].out, r[pattern].in));
  }
  if (ranks > 1) {
    EXPECT(hocket_exchange(tables[DENSE], r[DENSE].out, r[DENSE].in), HOCKET_ERR_BUSY);
    EXPECT(hocket_free(&tables[DENSE]), HOCKET_ERR_BUSY);
  }
  for (int i = 0; i < PATTERNS; ++i) {
    const int pattern = (i * 5 + rank) % PATTERNS;
    int over = 0;
    if (i % 2)
      OK(hocket_exchange_wait(tables[pattern]));
    else
      for (; !over; usleep(50)) OK(hocket_exchange_test(tables[pattern], &over));
    inspect(&r[pattern]);
  }
  for (int pattern = 0; pattern < PATTERNS; ++pattern) {
    OK(hocket_exchange_wait(tables[pattern]));
    OK(hocket_free(&tables[pattern]));
    check(tables[pattern] == NULL);
    OK(hocket_free(&tables[pattern]));
  }
  /* From a row of sizes, on the ranks in reverse. */
  MPI_Comm reverse;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
  const int world_rank = rank;
  MPI_Comm_rank(reverse, &rank);
  int64_t* bytes = malloc(sizeof(int64_t) * ranks);
  for (int to = 0; to < ranks; ++to) bytes[to] = size_of(SPARSE, rank, to);
  hocket_table* table;
  OK(hocket_schedule_counts(reverse, bytes, NULL, 3, &table));
  MPI_Comm_free(&reverse);
  look_at(table, SPARSE);
  run(table, 1);
  OK(hocket_free(&table));
  rank = world_rank;
  free(bytes);
}

/* Half of the ranks end an exchange before they schedule another, the other half afterwards. */
static void schedule_meanwhile(void) {
  hocket_table *table = scheduled(DENSE, 1), *other;
  struct run r = prepare(table, 3);
  OK(hocket_exchange_start(table, r.out, r.in));
  if (rank % 2) OK(hocket_exchange_wait(table));
  other = scheduled(SPARSE, 2);
  OK(hocket_exchange_wait(table));
  inspect(&r);
  OK(hocket_free(&table));
  OK(hocket_free(&other));
}

/* The same text everywhere, from whoever is to blame. */
static void told(int code, const char* part) {
  const char* text = hocket_error_string(code);
  check(strstr(text, part) != NULL);
  if (strstr(text, part) == NULL) fprintf(stderr, "'%s' lacks '%s'\n", text, part);
}

static void refuse(void) {
  const int last = ranks - 1, guilty = rank == last;
  int targets[2] = {0, last > 0 ? 1 : 0};
  int64_t bytes[2] = {10, 20};
  hocket_table* table = NULL;
  int code;
  targets[0] = guilty ? ranks : 0;
  EXPECT(code = hocket_schedule(MPI_COMM_WORLD, 1, targets, bytes, NULL, 1, &table), HOCKET_ERR_ARGUMENT);
  told(code, "is not a rank");
  check(table == NULL);
  targets[0] = targets[1] = 0;
  EXPECT(code = hocket_schedule(MPI_COMM_WORLD, guilty ? 2 : 1, targets, bytes, NULL, 1, &table), HOCKET_ERR_ARGUMENT);
  told(code, "given twice");
  bytes[0] = guilty ? -10 : 10;
  EXPECT(code = hocket_schedule(MPI_COMM_WORLD, 1, targets, bytes, NULL, 1, &table), HOCKET_ERR_ARGUMENT);
  told(code, "-10 bytes");
  bytes[0] = 10;
  EXPECT(code = hocket_schedule(MPI_COMM_WORLD, guilty ? -1 : 1, targets, bytes, NULL, 1, &table), HOCKET_ERR_ARGUMENT);
  EXPECT(code = hocket_schedule(MPI_COMM_WORLD, 1, guilty ? NULL : targets, bytes, NULL, 1, &table),
         HOCKET_ERR_ARGUMENT);
  told(code, "NULL");
  EXPECT(code = hocket_schedule(MPI_COMM_WORLD, 1, targets, bytes, "no-such", 1, &table), HOCKET_ERR_SCHEDULE);
  told(code, "no-such");
  EXPECT(hocket_schedule(MPI_COMM_NULL, 1, targets, bytes, NULL, 1, &table), HOCKET_ERR_ARGUMENT);
  EXPECT(hocket_schedule(MPI_COMM_WORLD, 1, targets, bytes, NULL, 1, NULL), HOCKET_ERR_ARGUMENT);
  EXPECT(hocket_load(MPI_COMM_WORLD, "/nonexistent/table", &table), HOCKET_ERR_FILE);
  told(HOCKET_ERR_FILE, "/nonexistent/table.");
  if (ranks > 1) {
    EXPECT(code = hocket_schedule(MPI_COMM_WORLD, 1, targets, bytes, NULL, guilty ? 2 : 1, &table),
           HOCKET_ERR_ARGUMENT);
    told(code, "differ");
    /* Sums beyond 2^63. */
    bytes[0] = INT64_MAX;
    targets[0] = (rank + 1) % ranks;
    EXPECT(code = hocket_schedule(MPI_COMM_WORLD, 1, targets, bytes, NULL, 1, &table), HOCKET_ERR_ARGUMENT);
    told(code, "2^63");
    bytes[0] = 10;
  }
  OK(hocket_schedule(MPI_COMM_WORLD, 1, targets, bytes, NULL, 1, &table));
  EXPECT(code = hocket_check(table, 0, NULL, NULL), HOCKET_ERR_MISMATCH);
  bytes[0] = guilty ? 11 : 10;
  EXPECT(code = hocket_check(table, 1, targets, bytes), HOCKET_ERR_MISMATCH);
  told(code, "another destination vector");
  EXPECT(hocket_exchange(table, NULL, NULL), HOCKET_ERR_ARGUMENT);
  EXPECT(hocket_save(table, "/nonexistent/table"), HOCKET_ERR_FILE);
  OK(hocket_free(&table));
  check(strlen(hocket_error_string(MPI_ERR_COMM)) > 0);
  check(strlen(hocket_error_string(-99)) > 0);
}

static int load_and_run(const char* prefix, int quiet) {
  hocket_table* table = NULL;
  const int code = hocket_load(MPI_COMM_WORLD, prefix, &table);
  int least;
  MPI_Allreduce(&code, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  check(code == least && (code == HOCKET_SUCCESS) == (table != NULL));
  if (code != HOCKET_SUCCESS) {
    if (rank == 0 && !quiet) printf("refused: %d %s\n", code, hocket_error_string(code));
    return 1;
  }
  run(table, 4);
  OK(hocket_free(&table));
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* what = argc > 1 ? argv[1] : "run";
  if (strcmp(what, "run") == 0) {
    if (argc > 2) unit = atol(argv[2]);
    run_all();
    schedule_meanwhile();
  } else if (strcmp(what, "refuse") == 0) {
    refuse();
  } else if (strcmp(what, "save") == 0) {
    hocket_table* table = scheduled(SPARSE, argc > 3 ? (uint64_t)atol(argv[3]) : 1);
    OK(hocket_save(table, argv[2]));
    OK(hocket_free(&table));
  } else if (strcmp(what, "load") == 0) {
    load_and_run(argv[2], 0);
  } else {
    char prefix[4096];
    int refused = 0, loaded = 0;
    FILE* list = fopen(argv[2], "r");
    while (list != NULL && fscanf(list, "%4095s", prefix) == 1) {
      if (load_and_run(prefix, 1))
        ++refused;
      else
        ++loaded;
    }
    if (rank == 0) printf("refused %d, loaded %d\n", refused, loaded);
  }
  return report();
}
