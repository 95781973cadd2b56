/* Hocket: irregular exchanges that are scheduled once and run often.
 *
 * Every rank says what it sends (its destination vector); an algorithm cuts the exchange into phases in
 * which no two messages collide; the table that comes back is run as often as wanted:
 *
 *     int targets[] = {3, 7};
 *     int64_t bytes[] = {40960, 1024};
 *     hocket_table *table;
 *     int code = hocket_schedule(MPI_COMM_WORLD, 2, targets, bytes, NULL, 1, &table);
 *     if (code != HOCKET_SUCCESS) fprintf(stderr, "%s\n", hocket_error_string(code));
 *     ...
 *     hocket_exchange(table, send_buffers, receive_buffers);    as often as wanted
 *     hocket_free(&table);
 *
 * C11 and C++. Flags for compiler and linker: hocket info --cflags --libs. How it works: hocket help c-and-python.
 * The scheme is that of the NICE package of Wang, Lin and Ranka.
 *
 * A call marked "collective" is made by all ranks of the communicator, in the same order as other
 * collective calls on it; it returns the same kind of answer on all of them, so that no rank goes on
 * alone. One thread at a time may use a table.
 */
#ifndef HOCKET_H
#define HOCKET_H

/* The version of this header and of the package that it came with. */
#define HOCKET_VERSION_MAJOR 0
#define HOCKET_VERSION_MINOR 1
#define HOCKET_VERSION_PATCH 0

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HOCKET_API __attribute__((visibility("default")))
#else
#define HOCKET_API
#endif

/* Return codes of all functions. Positive codes are those of the MPI library. */
enum {
  HOCKET_SUCCESS = 0,
  HOCKET_ERR_ARGUMENT = -1, /* an argument that makes no sense: a rank that does not exist, a negative size */
  HOCKET_ERR_SCHEDULE = -2, /* no such algorithm, or it does not serve this network */
  HOCKET_ERR_NETWORK = -3,  /* a plan that cannot be used, or ranks without a place in its network */
  HOCKET_ERR_FILE = -4,     /* a file that cannot be read or written */
  HOCKET_ERR_DAMAGED = -5,  /* a file that is no table, or a damaged one */
  HOCKET_ERR_MISMATCH = -6, /* a table made for other ranks, another demand or another network */
  HOCKET_ERR_BUSY = -7,     /* an exchange of this table is under way */
  HOCKET_ERR_MEMORY = -8    /* not enough memory */
};

/* The error message of this thread's last failing call, if it returned this code; otherwise the meaning of
 * the code. Never NULL; valid until the next call of this thread. */
HOCKET_API const char* hocket_error_string(int code);

/* A scheduling table: who sends how much to this rank, and its communication phase table. */
typedef struct hocket_table hocket_table;

/* One row of the communication phase table. A partner of -1: nothing to send, or to receive. Offsets and
 * lengths are bytes within the message of that partner; a message that an algorithm splits has several rows.
 * A phase takes one row, even if this rank is idle in it, or several if the rank sends or receives more
 * than once in it (algorithms that do not avoid node contention). */
typedef struct hocket_phase {
  int64_t phase; /* from 0, never decreasing */
  int send_to;
  int receive_from;
  int64_t send_length, send_offset;
  int64_t receive_length, receive_offset;
} hocket_phase;

typedef struct hocket_info {
  int ranks, rank;         /* size of the communicator, and rank in it */
  int64_t phases;          /* number of phases of the whole exchange */
  uint64_t digest;         /* digest of the tables of all ranks; equal on all of them */
  uint64_t seed;           /* random seed, for randomized algorithms */
  double lockstep_seconds; /* time of the phases one after the other; 0: unknown */
  double bound_seconds;    /* lower bound, by the busiest channel or port; 0: unknown */
  char algorithm[32];      /* name of the algorithm */
} hocket_info;

/* ---- Scheduling ---- */

/* Collective. `bytes[i]` bytes go to rank `targets[i]`, for i from 0 to sends - 1. No target may be given
 * twice; messages to the rank itself and messages of no bytes are allowed. `algorithm`: a name that
 * `hocket info` lists for irregular exchanges, or NULL for the default; the same on all ranks, like `seed`.
 *
 * The network is that of HOCKET_PLAN, as `hocket run` sets it; without it all ranks are hosts of one
 * switch, so that only the ports of the ranks matter. The table keeps a duplicate of `comm`. */
HOCKET_API int hocket_schedule(MPI_Comm comm, int sends, const int targets[], const int64_t bytes[],
                               const char* algorithm, uint64_t seed, hocket_table** table);

/* Like hocket_schedule, but from one size per rank: `bytes[r]` bytes go to rank r. The targets are the ranks
 * that receive data, in ascending order. */
HOCKET_API int hocket_schedule_counts(MPI_Comm comm, const int64_t bytes[], const char* algorithm, uint64_t seed,
                                      hocket_table** table);

/* Collective. Refused while an exchange is under way. Sets *table to NULL. */
HOCKET_API int hocket_free(hocket_table** table);

/* ---- What a table says; the arrays belong to it ---- */

HOCKET_API int hocket_get_info(const hocket_table* table, hocket_info* info);
/* The destination vector, as it was given. */
HOCKET_API int hocket_targets(const hocket_table* table, int* count, const int** ranks, const int64_t** bytes);
/* The source vector: who sends to this rank, in ascending order, and how much (never nothing). */
HOCKET_API int hocket_sources(const hocket_table* table, int* count, const int** ranks, const int64_t** bytes);
/* The communication phase table. */
HOCKET_API int hocket_phases(const hocket_table* table, size_t* count, const hocket_phase** rows);

/* ---- Keeping a table ---- */

/* Writes this rank's table to PREFIX.RANK, whole or not at all. Not collective. */
HOCKET_API int hocket_save(const hocket_table* table, const char* prefix);

/* Collective. Reads PREFIX.RANK on every rank. Refused on all ranks if one of the files is damaged or made
 * for another rank, number of ranks or network, or if they do not belong together. */
HOCKET_API int hocket_load(MPI_Comm comm, const char* prefix, hocket_table** table);

/* Collective. HOCKET_ERR_MISMATCH on all ranks if some rank's destination vector is another one than its
 * table was made for. Order matters: buffers are given in that order. Costs an allreduce of 8 bytes. */
HOCKET_API int hocket_check(const hocket_table* table, int sends, const int targets[], const int64_t bytes[]);

/* ---- Running it ---- */

/* Collective. `send_buffers[i]` points to the message for the i-th target, `receive_buffers[j]` to where
 * that of the j-th source goes. A pointer to a message of no bytes is not looked at. Messages that come in
 * must not overlap each other or those that go out. */
HOCKET_API int hocket_exchange(hocket_table* table, const void* const send_buffers[], void* const receive_buffers[]);

/* The exchange in steps: start it, test whether it is over (which makes progress), wait for its end. The arrays of
 * pointers may be freed after hocket_exchange_start; the buffers belong to Hocket until the exchange is over. Several
 * tables may be under way at once. Test and wait succeed at once if nothing is under way. An exchange moves on inside
 * calls of this header: do not wait in another MPI call for a rank that waits for the end of the exchange. */
HOCKET_API int hocket_exchange_start(hocket_table* table, const void* const send_buffers[],
                                     void* const receive_buffers[]);
HOCKET_API int hocket_exchange_test(hocket_table* table, int* over);
HOCKET_API int hocket_exchange_wait(hocket_table* table);

/* ---- The program's own collective calls ---- */

/* From here on the MPI library serves the collective calls of this communicator, also under `hocket run`. Every
 * rank of the communicator makes this call at the same place among its collective calls; no message is sent.
 * Nonblocking calls under way, and persistent requests made before, go on as they were. Duplicates are not
 * left alone. HOCKET_ERR_ARGUMENT for MPI_COMM_NULL and intercommunicators. */
HOCKET_API int hocket_leave_alone(MPI_Comm comm);

/* The candidates that calls are chosen from, by number (hocket help running): "native", "window-1", ...; null past the
 * last. Not collective. */
HOCKET_API const char* hocket_candidate_name(int number);

/* From here on this candidate serves MPI_Alltoall, MPI_Allgather and MPI_Allgatherv on this communicator, whatever they
 * send and whatever has proven faster: for measuring. Where nothing can be scheduled the MPI library still does. Made
 * like hocket_leave_alone. HOCKET_ERR_ARGUMENT for MPI_COMM_NULL, intercommunicators and names of no candidate. */
HOCKET_API int hocket_serve_by(MPI_Comm comm, const char* candidate);

/* Number of collective calls of this process that were scheduled so far; a persistent request counts once, when it is
 * made. Not collective. */
HOCKET_API uint64_t hocket_scheduled_calls(void);

#ifdef __cplusplus
}
#endif

#endif
