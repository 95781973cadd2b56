#pragma once
/* MPI's calls in which all ranks know all sizes:
 *
 *   X(Name, name, Call, shape)    which arguments; the class that describes a call of them
 *
 * Each exists as a blocking, a nonblocking (I...) and a persistent (_init) call, and all three once more with large
 * counts (_c): MPI_Count and MPI_Aint in place of both ints. The shapes are those of locally_sized.h, and below. */
#define GLOBALLY_SIZED_CALLS(X)                                              \
  X(Alltoall, alltoall, AllToAllCall, EQUAL_EACH)                            \
  X(Allgather, allgather, GatherCall, SAME_TO_ALL)                           \
  X(Allgatherv, allgatherv, GatherCall, SAME_TO_ALL_UNEQUAL)                 \
  X(Bcast, bcast, BroadcastCall, FROM_ROOT)                                  \
  X(Reduce, reduce, ReduceCall, COMBINED_AT_ROOT)                            \
  X(Allreduce, allreduce, AllReduceCall, COMBINED)                           \
  X(Reduce_scatter_block, reduce_scatter_block, ReduceScatterCall, COMBINED) \
  X(Reduce_scatter, reduce_scatter, ReduceScatterCall, COMBINED_UNEQUAL)     \
  X(Gather, gather, ToRootCall, INTO_ROOT)                                   \
  X(Scatter, scatter, FromRootCall, FROM_ROOT_EACH)

#define FROM_ROOT_PARAMETERS(Count, Place) void *buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm
#define FROM_ROOT_ARGUMENTS buffer, count, type, root, comm

#define COMBINED_PARAMETERS(Count, Place) \
  const void *sendbuf, void *recvbuf, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define COMBINED_ARGUMENTS sendbuf, recvbuf, count, type, op, comm

#define COMBINED_UNEQUAL_PARAMETERS(Count, Place) \
  const void *sendbuf, void *recvbuf, const Count counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define COMBINED_UNEQUAL_ARGUMENTS sendbuf, recvbuf, counts, type, op, comm

#define COMBINED_AT_ROOT_PARAMETERS(Count, Place) \
  const void *sendbuf, void *recvbuf, Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm
#define COMBINED_AT_ROOT_ARGUMENTS sendbuf, recvbuf, count, type, op, root, comm
