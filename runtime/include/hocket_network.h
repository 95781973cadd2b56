/* Hocket: what messages cost on the network at hand. `hocket calibrate network` asks for it. */
#ifndef HOCKET_NETWORK_H
#define HOCKET_NETWORK_H

#include "hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* HOCKET_PING: a message to `to` and one back: the time of both.
 * HOCKET_SEND: a message to `to`: the time until MPI_Send returns, while its receiver is in MPI_Recv.
 * HOCKET_RECEIVE: a message from `to`: the time of MPI_Recv when it has come long before.
 * HOCKET_UNEXPECTED: a message to `to`: the time until MPI_Send returns, while its receiver sleeps for `pause` seconds.
 * HOCKET_FLOW: each of `sources` is told to begin, and sends `count` messages at once: the time until all have come.
 * HOCKET_STEP: a message to `to`, one from `from`, which a token answers: the time until the own token is there.
 * HOCKET_SENDRECV: MPI_Sendrecv with `to` and `from`. */
enum {
  HOCKET_PING = 0,
  HOCKET_SEND = 1,
  HOCKET_RECEIVE = 2,
  HOCKET_UNEXPECTED = 3,
  HOCKET_FLOW = 4,
  HOCKET_STEP = 5,
  HOCKET_SENDRECV = 6
};

typedef struct {
  int what, to, from, count; /* ranks; -1: none. A rank with none waits, asleep, for the others. */
  int source_count;
  int asleep; /* waits give the processor away: ranks of a host outnumber its cores */
  int64_t bytes;
  double pause;
  const int* sources;
} hocket_network_work;

/* Does it `repeat` times; seconds[i] is what the i-th time took this rank, 0 where it had no part. Collective:
 * all ranks give the same `what`, `bytes` and `repeat`. */
HOCKET_API int hocket_measure_network(MPI_Comm comm, const hocket_network_work* work, int repeat, double seconds[]);

#ifdef __cplusplus
}
#endif

#endif
