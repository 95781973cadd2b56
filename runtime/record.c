/* The library that 'hocket record' preloads: writes down what each rank sends in each collective call,
 * then makes the call. It talks to nobody: every rank keeps a file of its own in $HOCKET_RECORD, and
 * python/hocket/recording/merge.py puts the files together.
 *
 * Lines of a file, one for each run of calls with the same row:
 *   hocket-rank 1 RANK RANKS
 *   comm C ORDINAL SIZE WORLD-RANK...    the C-th communicator of this rank; the ORDINAL-th with these members
 *   call C FIRST REPEATED OPERATION N (WORLD-RANK BYTES)...
 *   skip C OPERATION                     an intercommunicator, or ranks of another world
 *   end
 * REPEATED has 20 digits and is written again in place, so that nothing is lost with a rank that dies. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  int rank; /* receiver, in the world */
  uint64_t bytes;
} entry;

typedef struct {
  entry* entries;
  size_t count, room;
} row;

/* What is known about a communicator; an attribute of it. */
typedef struct {
  int number, size, rank;
  int* world;     /* world ranks of the members; NULL: not recorded */
  uint64_t calls; /* made so far */
  const char* operation;
  row last;
  uint64_t repeated;
  off_t place; /* of `repeated` in the file */
} comm_state;

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

static void* checked(void* memory) {
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
  if (l->room - l->size < 128) l->text = checked(realloc(l->text, l->room = 2 * l->room + 256));
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

/* Blanks do not count: MPICH lines its version string up with them. */
static int begins_with(const char* text, const char* start) {
  for (; *start; ++start) {
    if (*start == ' ') continue;
    while (*text == ' ' || *text == '\t') ++text;
    if (*text++ != *start) return 0;
  }
  return 1;
}

/* Handles of another MPI than this file was compiled for would be misunderstood. */
static void check_mpi(void) {
  static char version[8192]; /* MPI_MAX_LIBRARY_VERSION_STRING of every MPI we know is at most this */
  int length = 0;
  const char* built_for = getenv("HOCKET_RECORD_MPI");
  if (PMPI_Get_library_version(version, &length) == MPI_SUCCESS && built_for != NULL && begins_with(version, built_for))
    return;
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
  name.text = checked(malloc(name.room = strlen(directory) + 256));
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
  group* g = checked(malloc(sizeof *g + bytes));
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
  int* mine = checked(malloc(2 * sizeof *mine * (size_t)size));
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
  state = checked(calloc(1, sizeof *state));
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

static void put(row* r, int rank, uint64_t bytes) {
  if (bytes == 0) return;
  for (size_t i = r->count; i-- > 0;)
    if (r->entries[i].rank == rank) { /* a neighbour may be one twice */
      r->entries[i].bytes += bytes;
      return;
    } else if (r->entries[i].rank < rank)
      break;
  if (r->count == r->room) r->entries = checked(realloc(r->entries, sizeof *r->entries * (r->room = 2 * r->room + 8)));
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
static void record(comm_state* state, const char* operation, row* now) {
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

static uint64_t bytes_of(int count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return (uint64_t)count * (uint64_t)size;
}

/* Locks, and gives the state of a communicator whose calls are recorded, else unlocks and gives NULL. */
static comm_state* begin(MPI_Comm comm, const char* operation) {
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

static void finish(comm_state* state, const char* operation, row* now) {
  record(state, operation, now);
  pthread_mutex_unlock(&mutex);
}

/* The counts of one call: to each member its own, in place where the receive side tells what is sent. */
typedef struct {
  const int* counts;
  const MPI_Datatype* types;
  int count;
  MPI_Datatype type;
} sizes;

static uint64_t size_at(const sizes* s, int i) {
  return bytes_of(s->counts ? s->counts[i] : s->count, s->types ? s->types[i] : s->type);
}

static void all_to_all(MPI_Comm comm, const char* operation, sizes s) {
  comm_state* state = begin(comm, operation);
  if (state == NULL) return;
  row now = {0};
  for (int i = 0; i < state->size; ++i) put(&now, state->world[i], size_at(&s, i));
  finish(state, operation, &now);
}

/* What a rank contributes goes to all others. `s` has one size, or one per member. */
static void all_gather(MPI_Comm comm, const char* operation, sizes s) {
  comm_state* state = begin(comm, operation);
  if (state == NULL) return;
  row now = {0};
  const uint64_t bytes = size_at(&s, state->rank);
  for (int i = 0; i < state->size; ++i)
    if (i != state->rank) put(&now, state->world[i], bytes);
  finish(state, operation, &now);
}

/* Ranks of the neighbours that this rank sends to, in order; some may be MPI_PROC_NULL. */
static int* destinations(MPI_Comm comm, int rank, int* count) {
  int topology = MPI_UNDEFINED, sources = 0, weighted = 0;
  int* list = NULL;
  *count = 0;
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &sources, count, &weighted);
    const size_t all = (size_t)(sources + *count) + 1;
    list = checked(malloc(4 * all * sizeof *list));
    PMPI_Dist_graph_neighbors(comm, sources, list + all, list + 2 * all, *count, list, list + 3 * all);
  } else if (topology == MPI_GRAPH) {
    PMPI_Graph_neighbors_count(comm, rank, count);
    list = checked(malloc((size_t)(*count + 1) * sizeof *list));
    PMPI_Graph_neighbors(comm, rank, *count, list);
  } else if (topology == MPI_CART) {
    int dimensions = 0;
    PMPI_Cartdim_get(comm, &dimensions);
    *count = 2 * dimensions;
    list = checked(malloc((size_t)(*count + 1) * sizeof *list));
    for (int d = 0; d < dimensions; ++d) PMPI_Cart_shift(comm, d, 1, &list[2 * d], &list[2 * d + 1]);
  }
  return list;
}

static void to_neighbors(MPI_Comm comm, const char* operation, sizes s) {
  comm_state* state = begin(comm, operation);
  if (state == NULL) return;
  row now = {0};
  int count = 0;
  int* list = destinations(comm, state->rank, &count);
  for (int i = 0; i < count; ++i)
    if (list[i] >= 0 && list[i] < state->size) put(&now, state->world[list[i]], size_at(&s, i));
  free(list);
  finish(state, operation, &now);
}

static int in_place(const void* sendbuf) { return sendbuf == MPI_IN_PLACE; }

/* Parameters of each family of calls, what to pass on, and what is sent. */
#define ALLTOALL_ARGUMENTS                                                                                        \
  const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, \
      MPI_Comm comm
#define ALLTOALL_VALUES sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm
#define ALLTOALL_SIZES \
  in_place(sendbuf) ? (sizes){0, 0, recvcount, recvtype} : (sizes) { 0, 0, sendcount, sendtype }

#define ALLTOALLV_ARGUMENTS                                                                               \
  const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, \
      const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm
#define ALLTOALLV_VALUES sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm
#define ALLTOALLV_SIZES \
  in_place(sendbuf) ? (sizes){recvcounts, 0, 0, recvtype} : (sizes) { sendcounts, 0, 0, sendtype }

#define TYPED_ARGUMENTS(displacement)                                                                        \
  const void *sendbuf, const int sendcounts[], const displacement sdispls[], const MPI_Datatype sendtypes[], \
      void *recvbuf, const int recvcounts[], const displacement rdispls[], const MPI_Datatype recvtypes[],   \
      MPI_Comm comm
#define ALLTOALLW_ARGUMENTS TYPED_ARGUMENTS(int)
#define ALLTOALLW_VALUES sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm
#define ALLTOALLW_SIZES in_place(sendbuf) ? (sizes){recvcounts, recvtypes, 0, 0} : (sizes){sendcounts, sendtypes, 0, 0}

#define NEIGHBORW_ARGUMENTS TYPED_ARGUMENTS(MPI_Aint)
#define NEIGHBORW_VALUES ALLTOALLW_VALUES
#define NEIGHBORW_SIZES ALLTOALLW_SIZES

#define ALLGATHERV_ARGUMENTS                                                                        \
  const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], \
      const int displs[], MPI_Datatype recvtype, MPI_Comm comm
#define ALLGATHERV_VALUES sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm
#define ALLGATHERV_SIZES \
  in_place(sendbuf) ? (sizes){recvcounts, 0, 0, recvtype} : (sizes) { 0, 0, sendcount, sendtype }

/* Blocking and nonblocking; the persistent call is counted where it is made, not where it is started. */
#define WRAP(name, lower, kind, recorder)                    \
  int MPI_##name(kind##_ARGUMENTS) {                         \
    recorder(comm, "MPI_" #name, kind##_SIZES);              \
    return PMPI_##name(kind##_VALUES);                       \
  }                                                          \
  int MPI_I##lower(kind##_ARGUMENTS, MPI_Request* request) { \
    recorder(comm, "MPI_I" #lower, kind##_SIZES);            \
    return PMPI_I##lower(kind##_VALUES, request);            \
  }                                                          \
  WRAP_PERSISTENT(name, kind, recorder)
#if MPI_VERSION >= 4
#define WRAP_PERSISTENT(name, kind, recorder)                                    \
  int MPI_##name##_init(kind##_ARGUMENTS, MPI_Info info, MPI_Request* request) { \
    recorder(comm, "MPI_" #name "_init", kind##_SIZES);                          \
    return PMPI_##name##_init(kind##_VALUES, info, request);                     \
  }
#else
#define WRAP_PERSISTENT(name, kind, recorder)
#endif

WRAP(Alltoall, alltoall, ALLTOALL, all_to_all)
WRAP(Alltoallv, alltoallv, ALLTOALLV, all_to_all)
WRAP(Alltoallw, alltoallw, ALLTOALLW, all_to_all)
WRAP(Allgather, allgather, ALLTOALL, all_gather)
WRAP(Allgatherv, allgatherv, ALLGATHERV, all_gather)
WRAP(Neighbor_alltoall, neighbor_alltoall, ALLTOALL, to_neighbors)
WRAP(Neighbor_alltoallv, neighbor_alltoallv, ALLTOALLV, to_neighbors)
WRAP(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBORW, to_neighbors)

int MPI_Finalize(void) {
  pthread_mutex_lock(&mutex);
  append("end\n", 4);
  pthread_mutex_unlock(&mutex);
  return PMPI_Finalize();
}
