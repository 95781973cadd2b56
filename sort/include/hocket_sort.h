/* Hocket: sorting distributed arrays.
 *
 *     hocket_sorted* sorted;
 *     hocket_sort(MPI_COMM_WORLD, NULL, HOCKET_U32, n, keys, 0, NULL, &sorted);
 *     ... hocket_sorted_keys(sorted), hocket_sorted_count(sorted) ...
 *     hocket_free_sorted(&sorted);
 *
 * Rank 0 gets the smallest keys. Sorting is stable: equal keys keep the order of ranks, and within a rank theirs.
 * NaN come last; they are equal to each other, and so are -0.0 and 0.0. Errors are the same on all ranks.
 *
 * How it works: hocket help c-and-python. Source: Stricker and Hardwick, SPAA 1996 (radix sort).
 */
#ifndef HOCKET_SORT_H
#define HOCKET_SORT_H

#include "hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { /* key types */
       HOCKET_U8,
       HOCKET_U16,
       HOCKET_U32,
       HOCKET_U64,
       HOCKET_I8,
       HOCKET_I16,
       HOCKET_I32,
       HOCKET_I64,
       HOCKET_F16,
       HOCKET_F32,
       HOCKET_F64
};

enum { HOCKET_SORT_AUTO = 0, HOCKET_SORT_RADIX = 1, HOCKET_SORT_SAMPLE = 2 };

/* The number of elements that each rank gets. Even: the same, give or take one. In place: as many as it gave.
 * As it falls: whatever the sort yields without another exchange (sample sort; radix sort: even). */
enum { HOCKET_EVEN = 0, HOCKET_IN_PLACE = 1, HOCKET_AS_IT_FALLS = 2 };

enum { HOCKET_SAMPLE_RANDOM = 0, HOCKET_SAMPLE_REGULAR = 1 };

typedef struct hocket_sort_options { /* all zero: the defaults; the same on all ranks */
  int method;
  int balance;
  int sampling;
  int oversampling; /* samples per rank and splitter of the sample sort; 0: chosen */
  int digit_bits;   /* of the radix sort by all digits, 1 to 12; 0: chosen, or the highest digit first */
  uint64_t seed;    /* of random samples */
  /* Called on every rank after each step, from the thread that sorts; NULL: not. `done` of `steps` steps are over. */
  void (*progress)(const char* step, int done, int steps, void* context);
  /* Sorts keys that no payload goes with, within this rank, and returns 1; 0: it has not, and Hocket does. For types
   * whose equal keys cannot be told apart, unless it is stable. NULL: Hocket's own sort. */
  int (*sort_keys)(void* keys, int64_t count, void* context);
  void* context; /* of both */
} hocket_sort_options;

typedef struct hocket_sorted hocket_sorted;

/* Collective. `count` keys, and behind each of them payload_width bytes of payload (0: none; then `payload` may be
 * NULL). Types and widths are the same on all ranks. Keys and payload are only read. */
HOCKET_API int hocket_sort(MPI_Comm comm, const hocket_sort_options* options, int key_type, int64_t count,
                           const void* keys, size_t payload_width, const void* payload, hocket_sorted** sorted);

HOCKET_API int64_t hocket_sorted_count(const hocket_sorted* sorted);
/* They belong to `sorted`. */
HOCKET_API void* hocket_sorted_keys(const hocket_sorted* sorted);
HOCKET_API void* hocket_sorted_payload(const hocket_sorted* sorted);
HOCKET_API void hocket_free_sorted(hocket_sorted** sorted);

/* One step of the sort. `seconds`: of this rank, waiting included; a step repeated for every digit is summed up.
 * `predicted`: by the memory model (hocket help algorithms). "first touch": allocation of memory that ranks share,
 * which later sorts reuse. */
typedef struct hocket_sort_step {
  const char* name;
  double seconds, predicted;
} hocket_sort_step;
HOCKET_API int hocket_sorted_method(const hocket_sorted* sorted);
HOCKET_API size_t hocket_sorted_steps(const hocket_sorted* sorted, const hocket_sort_step** steps);
/* Most elements on a rank over the mean, before a last exchange evens it out. */
HOCKET_API double hocket_sorted_imbalance(const hocket_sorted* sorted);

#ifdef __cplusplus
}
#endif

#endif
