/* What a rank writes down of its collective calls. Safe for threads. */
#ifndef HOCKET_RECORD_LOG_H
#define HOCKET_RECORD_LOG_H
#include <mpi.h>
#include <stdint.h>
#include <sys/types.h>

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

/* What malloc gave, or the end of the program. */
void* record_checked(void* memory);

/* Locks, and gives the state of a communicator whose calls are recorded, else unlocks and gives NULL. */
comm_state* record_begin(MPI_Comm comm, const char* operation);
/* Adds to what this call sends to a rank of the world. */
void record_entry(row* r, int rank, uint64_t bytes);
/* Ends what record_begin began, with the row of this call, whose memory it takes over. */
void record_call(comm_state* state, const char* operation, row* now);
/* All of this rank's calls are recorded. */
void record_end(void);

#endif
