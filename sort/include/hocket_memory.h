/* Hocket: what waiting for other ranks and exchanging blocks with them costs, as permuting and sorting do it.
 * `hocket calibrate memory` asks for it; hocket help algorithms says what for.
 */
#ifndef HOCKET_MEMORY_H
#define HOCKET_MEMORY_H

#include "hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* HOCKET_MEET: the ranks of a host wait for each other. HOCKET_REDUCE: the sum of one number over all ranks.
 * HOCKET_EXCHANGE: every rank sends `bytes` to every other. */
enum { HOCKET_MEET = 0, HOCKET_REDUCE = 1, HOCKET_EXCHANGE = 2 };

/* Does it `repeat` times; seconds[i] is what the i-th time took this rank. Collective. */
HOCKET_API int hocket_measure(MPI_Comm comm, int what, int64_t bytes, int repeat, double seconds[]);

#ifdef __cplusplus
}
#endif

#endif
