/* Runs random MPI programs, each drawn from a seed, and prints a digest of all that they received.
 * Knows nothing of Hocket. Usage: random_program [options] SEED COUNT: the programs SEED, SEED + 1, …
 *   --threads N      each is N programs in as many threads
 *   --leave-out A,B  operations not to be run, by number (of all threads)
 *   --log PREFIX     every rank writes the operations that it begins, and its digest after them, to PREFIX.RANK
 *   --limit S        the rank ends after so many seconds, whatever becomes of its launcher
 *   --directory DIR  for files; without it none are written
 * Rank 0 prints "program SEED DIGEST, N operations" for each. */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

enum { MOST_THREADS = 4 };

static struct {
  int threads;
  uint64_t first;
  int count;
  char left_out[MOST_OPERATIONS];
  FILE* log;
} settings = {.threads = 1};

void note(const Program* p, const char* format, ...) {
  char text[400];
  va_list arguments;
  if (settings.log == NULL) return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(settings.log, "%" PRIu64 " %d %s, %016" PRIx64 "\n", p->seed, p->operation, text, p->digest);
  fflush(settings.log);
}

static void run_operation(Program* p) {
  const uint64_t key = mixed(p->seed, (uint64_t)p->operation);
  p->draw = (Draw){key};
  p->own = (Draw){mixed(key, (uint64_t)p->rank + 1)};
  const Operation* operation = choose_operation(p);
  if (settings.left_out[p->operation]) return;
  note(p, "%s", operation->name);
  if (chance(&p->own, 8)) usleep((useconds_t)below(&p->own, 2000)); /* ranks come at different times */
  operation->run(p);
}

/* The whole program of a thread. */
static void* run(void* program) {
  Program* p = program;
  Draw draw = {p->seed};
  const int operations_wanted = between(&draw, 8, p->threads > 1 ? 20 : 40);
  first_slots(p);
  for (p->operation = 0; p->operation < operations_wanted; ++p->operation) run_operation(p);
  note(p, "end");
  finish_works(p);
  free_slots(p);
  note(p, "over");
  return NULL;
}

static void run_program(uint64_t seed) {
  Program* programs = calloc((size_t)settings.threads, sizeof *programs);
  pthread_t threads[MOST_THREADS];
  uint64_t digest = seed, all[MOST_RANKS] = {0};
  int rank, n, number_of_operations = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int i = 0; i < settings.threads; ++i) {
    programs[i] =
        (Program){.seed = i == 0 ? seed : mixed(seed, (uint64_t)i), .rank = rank, .n = n, .world = MPI_COMM_WORLD};
    programs[i].threads = settings.threads;
    if (settings.threads > 1) MPI_Comm_dup(MPI_COMM_WORLD, &programs[i].world);
  }
  for (int i = 1; i < settings.threads; ++i) pthread_create(&threads[i], NULL, run, &programs[i]);
  run(&programs[0]);
  for (int i = 1; i < settings.threads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < settings.threads; ++i) {
    if (settings.threads > 1) MPI_Comm_free(&programs[i].world);
    digest = mixed(digest, programs[i].digest);
    number_of_operations += programs[i].operation;
  }
  MPI_Gather(&digest, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) digest = mixed(digest, all[i]);
  if (rank == 0) printf("program %" PRIu64 " %016" PRIx64 ", %d operations\n", seed, digest, number_of_operations);
  fflush(stdout);
  free(programs);
}

static void read_arguments(int argc, char** argv, int rank) {
  int at = 1;
  for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
    char* value = argv[at + 1];
    if (strcmp(argv[at], "--threads") == 0) settings.threads = atoi(value);
    if (strcmp(argv[at], "--directory") == 0) directory = value;
    if (strcmp(argv[at], "--limit") == 0) alarm((unsigned)atoi(value));
    if (strcmp(argv[at], "--leave-out") == 0)
      for (char* item = strtok(value, ","); item != NULL; item = strtok(NULL, ",")) settings.left_out[atoi(item)] = 1;
    if (strcmp(argv[at], "--log") == 0) {
      char path[4096];
      snprintf(path, sizeof path, "%s.%d", value, rank);
      settings.log = fopen(path, "w");
    }
  }
  settings.first = strtoull(argv[at], NULL, 10);
  settings.count = atoi(argv[at + 1]);
}

int main(int argc, char** argv) {
  int provided, rank;
  int wanted = MPI_THREAD_SINGLE;
  for (int i = 1; i < argc; ++i)
    if (strcmp(argv[i], "--threads") == 0) wanted = MPI_THREAD_MULTIPLE;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  read_arguments(argc, argv, rank);
  if (provided < wanted) {
    if (rank == 0) printf("no threads\n");
    settings.count = 0;
  }
  for (int i = 0; i < settings.count; ++i) run_program(settings.first + (uint64_t)i);
  MPI_Finalize();
  return 0;
}
