/* Hocket: moving the elements of distributed arrays.
 *
 * Every rank holds a part of an array; rank 0 has the first elements. Element i of the whole array goes to
 * position destinations[i] of another (B = Perm[A]), or is fetched from position indices[i] of it:
 *
 *     hocket_permute(MPI_COMM_WORLD, HOCKET_AUTO, width, n, a, destinations, m, b);
 *     hocket_take(MPI_COMM_WORLD, HOCKET_AUTO, width, n, a, m, indices, b);
 *
 * All functions are collective over the communicator. If an argument of any rank is wrong, all ranks return
 * an error, and hocket_error_string() says on all of them which rank, what, and where. Buffers must not
 * overlap. Counts and positions are in elements, `width` in bytes; it is the same on all ranks.
 *
 * Flags for compiler and linker: hocket info --cflags --libs. How it works: hocket help c-and-python.
 */
#ifndef HOCKET_ELEMENTS_H
#define HOCKET_ELEMENTS_H

#include "hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The method of transfer. Packed: each rank gathers the elements for each rank into a buffer, blocks are
 * exchanged, and the receiver scatters them. Chained: the three steps overlap; within a host through
 * shared memory, in an order that the receiver can put in place within its cache, between hosts in chunks. */
enum { HOCKET_AUTO = 0, HOCKET_PACKED = 1, HOCKET_CHAINED = 2 };

/* Memory that the ranks of a host share: takes and transposes read what lies in it without a copy.
 * Collective, like giving it back. *memory is NULL where bytes is 0 or an error is returned. To be released
 * before MPI_Finalize. */
HOCKET_API int hocket_alloc(MPI_Comm comm, size_t bytes, void** memory);
HOCKET_API int hocket_release(MPI_Comm comm, void** memory);

/* Element i of `source` goes to position destinations[i] of the target array, of which this rank holds
 * target_count elements. As many positions as elements, and every position once: anything else is refused. */
HOCKET_API int hocket_permute(MPI_Comm comm, int method, size_t width, int64_t count, const void* source,
                              const int64_t destinations[], int64_t target_count, void* target);

/* target[i] = the element at position indices[i] of the source array. Any index may come any number of times. */
HOCKET_API int hocket_take(MPI_Comm comm, int method, size_t width, int64_t count, const void* source,
                           int64_t target_count, const int64_t indices[], void* target);

/* An h-relation: element i goes to rank ranks[i]. What arrives is in the order of sending ranks, and of each in
 * its order. *arrived elements are written to *target, which is given back with hocket_free_elements(). */
HOCKET_API int hocket_send_elements(MPI_Comm comm, int method, size_t width, int64_t count, const void* source,
                                    const int ranks[], int64_t* arrived, void** target);
HOCKET_API void hocket_free_elements(void** target);

/* Grouped permute, for data that is arranged already: the first lengths[0] elements of `source` go to the positions
 * from destinations[0] on, the next lengths[1] to those from destinations[1] on, and so forth. */
HOCKET_API int hocket_grouped_permute(MPI_Comm comm, size_t width, int64_t runs, const int64_t lengths[],
                                      const int64_t destinations[], const void* source, int64_t target_count,
                                      void* target);

/* Transposes a matrix: `source` holds `rows` whole rows of `columns` elements, in the order of ranks; `target` gets
 * target_rows whole rows of the transposed matrix. Together the target rows are `columns`. */
HOCKET_API int hocket_transpose(MPI_Comm comm, int method, size_t width, int64_t rows, int64_t columns,
                                const void* source, int64_t target_rows, void* target);

#ifdef __cplusplus
}
#endif

#endif
