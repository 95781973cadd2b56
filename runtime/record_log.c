/* The file of a rank, in $HOCKET_RECORD; python/hocket/recording/merge.py puts the files together.
 *
 * Its lines, one for each run of calls with the same row:
 *   hocket-rank 1 RANK RANKS
 *   comm C ORDINAL SIZE WORLD-RANK...    the C-th communicator of this rank; the ORDINAL-th with these members
 *   call C FIRST REPEATED OPERATION N (WORLD-RANK BYTES)...
 *   skip C OPERATION                     an intercommunicator, or ranks of another world
 *   end
 * REPEATED has 20 digits and is written again in place, so that nothing is lost with a rank that dies. */
#include "record_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "which_mpi.h"

/* The groups seen so far, for their ordinals. */
typedef struct group {
  struct group* next;
  int size, seen;
  int world[];
} group;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int file = -1, opened, keyval, comms;
static off_t written;
static group* groups;

static void complain(const char* text) { fprintf(stderr, "hocket record: %s\n", text); }

void* record_checked(void* memory) {
  if (memory == NULL) {
    complain("there is no memory left to record");
    abort();
  }
  return memory;
}

/* Recording ends where the disk does; the program goes on. */
static void append(const char* text, size_t size) {
  while (file >= 0 && size > 0) {
    const ssize_t done = pwrite(file, text, size, written);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      fprintf(stderr, "hocket record: cannot write any more: %s\n", strerror(errno));
      close(file);
      file = -1;
      return;
    }
    text += done;
    size -= (size_t)done;
    written += done;
  }
}

/* A line that grows. */
typedef struct {
  char* text;
  size_t size, room;
} line;

static void add(line* l, const char* format, ...) {
  if (l->room - l->size < 128) l->text = record_checked(realloc(l->text, l->room = 2 * l->room + 256));
  va_list values;
  va_start(values, format);
  l->size += (size_t)vsnprintf(l->text + l->size, l->room - l->size, format, values);
  va_end(values);
}

static void end_line(line* l) {
  add(l, "\n");
  append(l->text, l->size);
  free(l->text);
}

/* MPI-5.0. */
extern int PMPI_Abi_get_version(int* major, int* minor) __attribute__((weak));

/* Handles of another MPI than this file was compiled for would be misunderstood. */
static void check_mpi(void) {
  const char* built_for = getenv("HOCKET_RECORD_MPI");
  if (built_for != NULL && is_mpi(built_for, PMPI_Get_library_version, PMPI_Abi_get_version)) return;
  complain("this program uses another MPI than its launcher; start it with the mpiexec of its own MPI");
  _exit(2);
}

static int forget(MPI_Comm comm, int key, void* value, void* extra) {
  comm_state* state = value;
  (void)comm, (void)key, (void)extra;
  free(state->world);
  free(state->last.entries);
  free(state);
  return MPI_SUCCESS;
}

static void open_file(void) {
  if (opened) return;
  opened = 1;
  const char* directory = getenv("HOCKET_RECORD");
  if (directory == NULL) return;
  check_mpi();
  int rank = 0, ranks = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  line name = {0}, head = {0};
  name.text = record_checked(malloc(name.room = strlen(directory) + 256));
  add(&name, "%s/rank-%d", directory, rank);
  file = open(name.text, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file < 0 && errno == EEXIST)
    complain("only the first MPI job is recorded, not those that it starts or that follow it");
  else if (file < 0)
    fprintf(stderr, "hocket record: cannot write %s: %s; it must be a directory that all hosts see\n", name.text,
            strerror(errno));
  free(name.text);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL);
  add(&head, "hocket-rank 1 %d %d", rank, ranks);
  end_line(&head);
}

/* Communicators of the same members are told apart by the order in which they are first used. */
static int ordinal(const int* world, int size) {
  const size_t bytes = sizeof *world * (size_t)size;
  for (group* g = groups; g != NULL; g = g->next)
    if (g->size == size && memcmp(g->world, world, bytes) == 0) return g->seen++;
  group* g = record_checked(malloc(sizeof *g + bytes));
  g->next = groups;
  g->size = size;
  g->seen = 1;
  memcpy(g->world, world, bytes);
  groups = g;
  return 0;
}

/* World ranks of the members, or NULL. */
static int* world_ranks(MPI_Comm comm, int size) {
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter) return NULL;
  int* mine = record_checked(malloc(2 * sizeof *mine * (size_t)size));
  for (int i = 0; i < size; ++i) mine[size + i] = i;
  MPI_Group all, members;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  PMPI_Comm_group(comm, &members);
  PMPI_Group_translate_ranks(members, size, mine + size, all, mine);
  PMPI_Group_free(&all);
  PMPI_Group_free(&members);
  for (int i = 0; i < size; ++i)
    if (mine[i] == MPI_UNDEFINED) {
      free(mine);
      return NULL;
    }
  return mine;
}

static comm_state* state_of(MPI_Comm comm) {
  comm_state* state = NULL;
  int found = 0;
  PMPI_Comm_get_attr(comm, keyval, &state, &found);
  if (found) return state;
  state = record_checked(calloc(1, sizeof *state));
  PMPI_Comm_size(comm, &state->size);
  PMPI_Comm_rank(comm, &state->rank);
  state->number = comms++;
  state->world = world_ranks(comm, state->size);
  if (state->world != NULL) {
    line text = {0};
    add(&text, "comm %d %d %d", state->number, ordinal(state->world, state->size), state->size);
    for (int i = 0; i < state->size; ++i) add(&text, " %d", state->world[i]);
    end_line(&text);
  }
  PMPI_Comm_set_attr(comm, keyval, state);
  return state;
}

void record_entry(row* r, int rank, uint64_t bytes) {
  if (bytes == 0) return;
  for (size_t i = r->count; i-- > 0;)
    if (r->entries[i].rank == rank) { /* a neighbour may be one twice */
      r->entries[i].bytes += bytes;
      return;
    } else if (r->entries[i].rank < rank)
      break;
  if (r->count == r->room)
    r->entries = record_checked(realloc(r->entries, sizeof *r->entries * (r->room = 2 * r->room + 8)));
  size_t at = r->count++;
  for (; at > 0 && r->entries[at - 1].rank > rank; --at) r->entries[at] = r->entries[at - 1];
  r->entries[at] = (entry){rank, bytes};
}

static int same(const row* a, const row* b) {
  if (a->count != b->count) return 0;
  for (size_t i = 0; i < a->count; ++i)
    if (a->entries[i].rank != b->entries[i].rank || a->entries[i].bytes != b->entries[i].bytes) return 0;
  return 1;
}

static void write_repeated(const comm_state* state) {
  char digits[21];
  snprintf(digits, sizeof digits, "%020" PRIu64, state->repeated);
  if (file >= 0 && pwrite(file, digits, 20, state->place) != 20) complain("cannot write any more");
}

/* The row of the next call on this communicator; takes over the row's memory. */
static void write_row(comm_state* state, const char* operation, row* now) {
  if (state->operation != NULL && strcmp(operation, state->operation) == 0 && same(now, &state->last)) {
    ++state->repeated;
    write_repeated(state);
    free(now->entries);
  } else {
    line text = {0};
    add(&text, "call %d %" PRIu64 " ", state->number, state->calls);
    state->place = written + (off_t)text.size;
    add(&text, "%020d %s %zu", 1, operation, now->count);
    for (size_t i = 0; i < now->count; ++i) add(&text, " %d %" PRIu64, now->entries[i].rank, now->entries[i].bytes);
    end_line(&text);
    free(state->last.entries);
    state->last = *now;
    state->operation = operation;
    state->repeated = 1;
  }
  ++state->calls;
}

comm_state* record_begin(MPI_Comm comm, const char* operation) {
  if (comm == MPI_COMM_NULL) return NULL;
  pthread_mutex_lock(&mutex);
  open_file();
  if (file >= 0) {
    comm_state* state = state_of(comm);
    if (state->world != NULL) return state;
    if (state->operation == NULL) {
      line text = {0};
      add(&text, "skip %d %s", state->number, operation);
      end_line(&text);
      state->operation = operation;
    }
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

void record_call(comm_state* state, const char* operation, row* now) {
  write_row(state, operation, now);
  pthread_mutex_unlock(&mutex);
}

void record_end(void) {
  pthread_mutex_lock(&mutex);
  append("end\n", 4);
  pthread_mutex_unlock(&mutex);
}
