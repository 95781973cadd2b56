#pragma once
/* Every MPI call that is intercepted: name in MPI, name in the runtime, number of arguments. */

/* They may follow schedules. Each with the number of arguments of its blocking, nonblocking and persistent form. */
#define COLLECTIVE_CALLS(X)                                          \
  EVERY_FORM(X, Alltoall, alltoall, 7, 8, 9)                         \
  EVERY_FORM(X, Allgather, allgather, 7, 8, 9)                       \
  EVERY_FORM(X, Allgatherv, allgatherv, 8, 9, 10)                    \
  EVERY_FORM(X, Bcast, bcast, 5, 6, 7)                               \
  EVERY_FORM(X, Reduce, reduce, 7, 8, 9)                             \
  EVERY_FORM(X, Allreduce, allreduce, 6, 7, 8)                       \
  EVERY_FORM(X, Reduce_scatter_block, reduce_scatter_block, 6, 7, 8) \
  EVERY_FORM(X, Reduce_scatter, reduce_scatter, 6, 7, 8)             \
  EVERY_FORM(X, Gather, gather, 8, 9, 10)                            \
  EVERY_FORM(X, Scatter, scatter, 8, 9, 10)                          \
  EVERY_FORM(X, Alltoallv, alltoallv, 9, 10, 11)                     \
  EVERY_FORM(X, Alltoallw, alltoallw, 9, 10, 11)                     \
  EVERY_FORM(X, Gatherv, gatherv, 9, 10, 11)                         \
  EVERY_FORM(X, Scatterv, scatterv, 9, 10, 11)                       \
  EVERY_FORM(X, Neighbor_allgather, neighbor_allgather, 7, 8, 9)     \
  EVERY_FORM(X, Neighbor_allgatherv, neighbor_allgatherv, 8, 9, 10)  \
  EVERY_FORM(X, Neighbor_alltoall, neighbor_alltoall, 7, 8, 9)       \
  EVERY_FORM(X, Neighbor_alltoallv, neighbor_alltoallv, 9, 10, 11)   \
  EVERY_FORM(X, Neighbor_alltoallw, neighbor_alltoallw, 9, 10, 11)

#define EVERY_FORM(X, Name, name, n, n_nonblocking, n_persistent) \
  X(Name, name, n)                                                \
  X(Name##_c, name##_c, n)                                        \
  X(Name##_init, name##_init, n_persistent)                       \
  X(Name##_init_c, name##_init_c, n_persistent)                   \
  X(I##name, i##name, n_nonblocking)                              \
  X(I##name##_c, i##name##_c, n_nonblocking)

/* Where the runtime is loaded, so that no later call takes longer for that. It has no part in them. */
#define STARTING_CALLS(X) \
  X(Init, started, 2)     \
  X(Init_thread, started, 4)
/* Calls that matter only to the recording, which ends here. */
#define ENDING_CALLS(X) X(Finalize, finalize, 0)
/* Between the first and the last of these MPI may end and begin again. */
#define SESSION_CALLS(X)           \
  X(Session_init, session_init, 3) \
  X(Session_finalize, session_finalize, 1)
/* The processes that they start get the runtime, too. */
#define SPAWNING_CALLS(X)      \
  X(Comm_spawn, comm_spawn, 8) \
  X(Comm_spawn_multiple, comm_spawn_multiple, 9)
/* Their ranks may be put in another order (HOCKET_REORDER). */
#define TOPOLOGY_CALLS(X)                    \
  X(Cart_create, cart_create, 6)             \
  X(Graph_create, graph_create, 6)           \
  X(Dist_graph_create, dist_graph_create, 9) \
  X(Dist_graph_create_adjacent, dist_graph_create_adjacent, 10)
/* Calls that matter only while the runtime serves persistent requests. */
#define REQUEST_CALLS(X)                               \
  X(Start, start, 1)                                   \
  X(Startall, startall, 2)                             \
  X(Request_free, request_free, 1)                     \
  X(Wait, wait, 2)                                     \
  X(Waitall, waitall, 3)                               \
  X(Waitany, waitany, 4)                               \
  X(Waitsome, waitsome, 5)                             \
  X(Test, test, 3)                                     \
  X(Testall, testall, 4)                               \
  X(Testany, testany, 5)                               \
  X(Testsome, testsome, 5)                             \
  X(Request_get_status, request_get_status, 3)         \
  X(Request_get_status_all, request_get_status_all, 4) \
  X(Request_get_status_any, request_get_status_any, 5) \
  X(Request_get_status_some, request_get_status_some, 5)
/* In these a rank may wait for another one that waits for a request that the runtime serves. */
#define BLOCKING_CALLS(X)   \
  X(Send, send, 6)          \
  X(Ssend, ssend, 6)        \
  X(Rsend, rsend, 6)        \
  X(Recv, recv, 7)          \
  X(Sendrecv, sendrecv, 12) \
  X(Probe, probe, 4)        \
  X(Iprobe, iprobe, 5)      \
  X(Mprobe, mprobe, 5)      \
  X(Improbe, improbe, 6)    \
  X(Send_c, send_c, 6)      \
  X(Ssend_c, ssend_c, 6)    \
  X(Rsend_c, rsend_c, 6)    \
  X(Recv_c, recv_c, 7)      \
  X(Sendrecv_c, sendrecv_c, 12)
/* A call, and its form with large counts. */
#define AND_LARGE(X, Name, name, n) \
  X(Name, name, n)                  \
  X(Name##_c, name, n)
/* Calls that matter while the runtime serves requests: the runtime is told, then the MPI library serves them. */
#define WAITING_CALLS(X)                                           \
  /* MPI_Isendrecv_replace of MPICH 5.0.2 has a wrong status */    \
  AND_LARGE(X, Sendrecv_replace, post_remaining, 9)                \
  /* collectives */                                                \
  AND_LARGE(X, Scan, post_remaining, 6)                            \
  AND_LARGE(X, Exscan, post_remaining, 6)                          \
  /* persistent ones may wait for each other when they are made */ \
  X(Barrier_init, post_remaining, 3)                               \
  AND_LARGE(X, Scan_init, post_remaining, 8)                       \
  AND_LARGE(X, Exscan_init, post_remaining, 8)                     \
  /* communicators */                                              \
  X(Comm_dup, post_remaining, 2)                                   \
  X(Comm_dup_with_info, post_remaining, 3)                         \
  X(Comm_create, post_remaining, 3)                                \
  X(Comm_create_group, post_remaining, 4)                          \
  X(Comm_create_from_group, post_remaining, 5)                     \
  X(Comm_split, post_remaining, 4)                                 \
  X(Comm_split_type, post_remaining, 5)                            \
  X(Comm_set_info, post_remaining, 2)                              \
  X(Comm_free, post_remaining, 1)                                  \
  X(Comm_disconnect, post_remaining, 1)                            \
  X(Comm_accept, post_remaining, 5)                                \
  X(Comm_connect, post_remaining, 5)                               \
  X(Comm_join, post_remaining, 2)                                  \
  X(Intercomm_create, post_remaining, 6)                           \
  X(Intercomm_create_from_groups, post_remaining, 8)               \
  X(Intercomm_merge, post_remaining, 3)                            \
  X(Cart_sub, post_remaining, 3)                                   \
  X(Cart_map, post_remaining, 5)                                   \
  X(Graph_map, post_remaining, 5)                                  \
  /* buffered sends that must be over */                           \
  AND_LARGE(X, Buffer_detach, post_remaining, 2)                   \
  X(Buffer_flush, post_remaining, 0)                               \
  AND_LARGE(X, Comm_detach_buffer, post_remaining, 3)              \
  X(Comm_flush_buffer, post_remaining, 1)                          \
  AND_LARGE(X, Session_detach_buffer, post_remaining, 3)           \
  X(Session_flush_buffer, post_remaining, 1)                       \
  /* one-sided */                                                  \
  AND_LARGE(X, Win_create, post_remaining, 6)                      \
  X(Win_create_dynamic, post_remaining, 3)                         \
  AND_LARGE(X, Win_allocate, post_remaining, 6)                    \
  AND_LARGE(X, Win_allocate_shared, post_remaining, 6)             \
  X(Win_set_info, post_remaining, 2)                               \
  X(Win_free, post_remaining, 1)                                   \
  X(Win_fence, post_remaining, 2)                                  \
  X(Win_start, post_remaining, 3)                                  \
  X(Win_complete, post_remaining, 1)                               \
  X(Win_wait, post_remaining, 1)                                   \
  X(Win_lock, post_remaining, 4)                                   \
  X(Win_unlock, post_remaining, 2)                                 \
  X(Win_lock_all, post_remaining, 2)                               \
  X(Win_unlock_all, post_remaining, 1)                             \
  X(Win_flush, post_remaining, 2)                                  \
  X(Win_flush_all, post_remaining, 1)                              \
  X(Win_flush_local, post_remaining, 2)                            \
  X(Win_flush_local_all, post_remaining, 1)                        \
  /* files */                                                      \
  X(File_open, post_remaining, 5)                                  \
  X(File_close, post_remaining, 1)                                 \
  X(File_set_size, post_remaining, 2)                              \
  X(File_preallocate, post_remaining, 2)                           \
  X(File_set_info, post_remaining, 2)                              \
  X(File_set_view, post_remaining, 6)                              \
  X(File_set_atomicity, post_remaining, 2)                         \
  X(File_sync, post_remaining, 1)                                  \
  X(File_seek_shared, post_remaining, 3)                           \
  AND_LARGE(X, File_read_all, post_remaining, 5)                   \
  AND_LARGE(X, File_read_all_begin, post_remaining, 4)             \
  X(File_read_all_end, post_remaining, 3)                          \
  AND_LARGE(X, File_read_at_all, post_remaining, 6)                \
  AND_LARGE(X, File_read_at_all_begin, post_remaining, 5)          \
  X(File_read_at_all_end, post_remaining, 3)                       \
  AND_LARGE(X, File_read_ordered, post_remaining, 5)               \
  AND_LARGE(X, File_read_ordered_begin, post_remaining, 4)         \
  X(File_read_ordered_end, post_remaining, 3)                      \
  AND_LARGE(X, File_read_shared, post_remaining, 5)                \
  AND_LARGE(X, File_write_all, post_remaining, 5)                  \
  AND_LARGE(X, File_write_all_begin, post_remaining, 4)            \
  X(File_write_all_end, post_remaining, 3)                         \
  AND_LARGE(X, File_write_at_all, post_remaining, 6)               \
  AND_LARGE(X, File_write_at_all_begin, post_remaining, 5)         \
  X(File_write_at_all_end, post_remaining, 3)                      \
  AND_LARGE(X, File_write_ordered, post_remaining, 5)              \
  AND_LARGE(X, File_write_ordered_begin, post_remaining, 4)        \
  X(File_write_ordered_end, post_remaining, 3)                     \
  AND_LARGE(X, File_write_shared, post_remaining, 5)               \
  /* asked again and again */                                      \
  X(Win_test, progress, 2)                                         \
  X(Parrived, progress, 3)
/* In these all ranks of the communicator, which is the last argument, wait for each other: here its ranks can set up
 * what its nonblocking calls lack. The runtime is told, and then the MPI library serves the call. */
#define JOINING_CALLS(X) X(Barrier, join, 1)
#define CALLS(X)      \
  COLLECTIVE_CALLS(X) \
  STARTING_CALLS(X)   \
  ENDING_CALLS(X)     \
  SESSION_CALLS(X)    \
  SPAWNING_CALLS(X) TOPOLOGY_CALLS(X) REQUEST_CALLS(X) BLOCKING_CALLS(X) WAITING_CALLS(X) JOINING_CALLS(X)
