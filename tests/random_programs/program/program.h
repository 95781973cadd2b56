/* A random program: what its ranks know, and what its operations share.
 *
 * Every operation has a seed of its own (the program's and its number), so that one that is left out
 * does not change what the others draw. */
#ifndef PROGRAM_H
#define PROGRAM_H
#include <mpi.h>

#include "draw.h"

#if MPI_VERSION >= 4
#define HAS_LARGE_COUNTS 1
#endif
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT_COLLECTIVES 1
#endif

enum { MOST_SLOTS = 9, FIXED_SLOTS = 2, MOST_OPERATIONS = 64, MOST_WORKS = 2 * MOST_OPERATIONS, MOST_RANKS = 64 };

/* A communicator; all ranks of the program agree on what is in which slot, though each may have another
 * one there (parts of a split), or none. */
typedef struct {
  int used;
  MPI_Comm comm;
  int topology;    /* MPI_UNDEFINED if none */
  int inter, side; /* of an intercommunicator: which of its groups this rank is in */
  int rank, n;     /* n: ranks that this one exchanges with, those of the remote group if there is one */
} Slot;

/* Memory that MPI calls read or write, with guard zones; all of it is filled before, and looked at after. */
typedef struct {
  unsigned char* bytes;
  size_t size;
} Memory;

enum { MOST_MEMORIES = 3, MOST_BLOCKS = 64, MOST_TYPES = 192 };

/* A call with its memory: blocking, under way, or persistent. */
typedef struct {
  int used, active, persistent;
  int receives; /* has a status worth looking at */
  int collective;
  MPI_Request request;
  uint64_t key; /* what its memory is filled from */
  int rounds;   /* how often it has been filled */
  Memory memories[MOST_MEMORIES];
  int memory_count;
  void* blocks[MOST_BLOCKS];
  int block_count;
  MPI_Datatype types[MOST_TYPES];
  int type_count;
} Work;

typedef struct {
  uint64_t seed;
  int operation;
  MPI_Comm world;
  int rank, n;
  int threads;    /* how many programs this process runs at once */
  int unexpected; /* calls that failed and should not */
  uint64_t digest;
  Slot slots[MOST_SLOTS];
  Work works[MOST_WORKS];
  Draw draw; /* of this operation, alike on all ranks */
  Draw own;  /* of this operation and rank */
} Program;

static inline void look_at(Program* p, uint64_t value) { p->digest = mixed(p->digest, value); }
void look_at_error(Program* p, int code);
void look_at_status(Program* p, const MPI_Status* status);
/* To the log, if there is one: what an operation has drawn. */
void note(const Program* p, const char* format, ...);
/* For calls whose success is expected although errors return. */
void expect(Program* p, int code);

/* works.c */
/* One of the two that an operation may have. Works are numbered alike on all ranks. */
Work* new_work(Program* p);
void* keep(Work* w, size_t bytes); /* memory that lives as long as the work; zeros */
Memory* add_memory(Work* w, size_t bytes);
MPI_Datatype own_type(Work* w, MPI_Datatype type); /* commits it; freed with the work */
void free_types(Work* w);
void fill(Work* w);
void look_at_work(Program* p, const Work* w);
void release(Work* w);
/* Waits for what is under way, looks at it and, unless it is persistent, releases it. */
void finish(Program* p, Work* w);
void finish_works(Program* p);

/* slots.c */
void first_slots(Program* p);
void free_slots(Program* p);
int any_slot(Program* p);
int intra_slot(Program* p);
Slot* slot(Program* p, int index);

/* The operations: operations.c has the table. */
void exchange(Program* p);
void complete(Program* p);
void start(Program* p);
void free_persistent(Program* p);
void create_communicator(Program* p);
void free_communicator(Program* p);
void collective(Program* p);
void nonblocking_collective(Program* p);
void ring(Program* p);
void persistent_ring(Program* p);
void pairs(Program* p);
void fan_in(Program* p);
void cancelled_receive(Program* p);
void erroneous(Program* p);
void attributes(Program* p);
void window(Program* p);
void file(Program* p);
extern const char* directory; /* of files; null: none are written */

typedef struct {
  const char* name;
  void (*run)(Program*);
  int weight;
  int alone; /* not where several threads run programs */
} Operation;
extern const Operation operations[];
const Operation* choose_operation(Program* p);

#endif
