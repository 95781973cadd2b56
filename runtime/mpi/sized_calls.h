#pragma once
/* MPI's calls in which all ranks know all sizes:
 *
 *   X(Name, name, Call, shape, Place)    the class that describes a call; which arguments; type of displacements
 *
 * Each exists as a blocking, a nonblocking (I...) and a persistent (_init) call, and all three once more with large
 * counts (_c): MPI_Count and MPI_Aint in place of both ints. The shapes are below. */
#define GLOBALLY_SIZED_CALLS(X)                                                   \
  X(Alltoall, alltoall, AllToAllCall, EQUAL_EACH, int)                            \
  X(Allgather, allgather, GatherCall, SAME_TO_ALL, int)                           \
  X(Allgatherv, allgatherv, GatherCall, SAME_TO_ALL_UNEQUAL, int)                 \
  X(Bcast, bcast, BroadcastCall, FROM_ROOT, int)                                  \
  X(Reduce, reduce, ReduceCall, COMBINED_AT_ROOT, int)                            \
  X(Allreduce, allreduce, AllReduceCall, COMBINED, int)                           \
  X(Reduce_scatter_block, reduce_scatter_block, ReduceScatterCall, COMBINED, int) \
  X(Reduce_scatter, reduce_scatter, ReduceScatterCall, COMBINED_UNEQUAL, int)     \
  X(Gather, gather, ToRootCall, INTO_ROOT, int)                                   \
  X(Scatter, scatter, FromRootCall, FROM_ROOT_EACH, int)

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

/* MPI's calls with messages of different sizes:
 *
 *   X(Name, name, reach, shape, Place)    with whom; which arguments; type of displacements
 *
 * Each exists as a blocking, a persistent (_init) and a nonblocking (I...) call, and all three once more with large
 * counts (_c): MPI_Count and MPI_Aint in place of int and Place. */
#define LOCALLY_SIZED_CALLS(X)                                                    \
  X(Alltoallv, alltoallv, everybody, ONE_TYPE, int)                               \
  X(Alltoallw, alltoallw, everybody, TYPE_EACH, int)                              \
  X(Gatherv, gatherv, into_root, UNEQUAL_INTO_ROOT, int)                          \
  X(Scatterv, scatterv, from_root, UNEQUAL_FROM_ROOT, int)                        \
  X(Neighbor_allgather, neighbor_allgather, topology, SAME_TO_ALL, int)           \
  X(Neighbor_allgatherv, neighbor_allgatherv, topology, SAME_TO_ALL_UNEQUAL, int) \
  X(Neighbor_alltoall, neighbor_alltoall, topology, EQUAL_EACH, int)              \
  X(Neighbor_alltoallv, neighbor_alltoallv, topology, ONE_TYPE, int)              \
  X(Neighbor_alltoallw, neighbor_alltoallw, topology, TYPE_EACH, MPI_Aint)

#define SIZED_CALLS(X) GLOBALLY_SIZED_CALLS(X) LOCALLY_SIZED_CALLS(X)

/* Parameters and arguments of each shape, and its two sides as a VectorSide (vector_call.hpp). A shape with a root says
 * what a Reach says of it. */
#define ONE_TYPE_PARAMETERS(Count, Place)                                                                     \
  const void *sendbuf, const Count sendcounts[], const Place sdispls[], MPI_Datatype sendtype, void *recvbuf, \
      const Count recvcounts[], const Place rdispls[], MPI_Datatype recvtype, MPI_Comm comm
#define ONE_TYPE_ARGUMENTS sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm
#define ONE_TYPE_SIDES several(sendbuf, sendcounts, sdispls, sendtype), several(recvbuf, recvcounts, rdispls, recvtype)

#define TYPE_EACH_PARAMETERS(Count, Place)                                                                             \
  const void *sendbuf, const Count sendcounts[], const Place sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, \
      const Count recvcounts[], const Place rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm
#define TYPE_EACH_ARGUMENTS sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm
#define TYPE_EACH_SIDES \
  several(sendbuf, sendcounts, sdispls, sendtypes), several(recvbuf, recvcounts, rdispls, recvtypes)

#define EQUAL_EACH_PARAMETERS(Count, Place)                                                                           \
  const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count recvcount, MPI_Datatype recvtype, \
      MPI_Comm comm
#define EQUAL_EACH_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm
#define EQUAL_EACH_SIDES equal(sendbuf, sendcount, sendtype), equal(recvbuf, recvcount, recvtype)

#define SAME_TO_ALL_PARAMETERS EQUAL_EACH_PARAMETERS
#define SAME_TO_ALL_ARGUMENTS EQUAL_EACH_ARGUMENTS
#define SAME_TO_ALL_SIDES same(sendbuf, sendcount, sendtype), equal(recvbuf, recvcount, recvtype)

#define SAME_TO_ALL_UNEQUAL_PARAMETERS(Count, Place)                                                    \
  const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, const Count recvcounts[], \
      const Place displs[], MPI_Datatype recvtype, MPI_Comm comm
#define SAME_TO_ALL_UNEQUAL_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm
#define SAME_TO_ALL_UNEQUAL_SIDES same(sendbuf, sendcount, sendtype), several(recvbuf, recvcounts, displs, recvtype)

#define INTO_ROOT_PARAMETERS(Count, Place)                                                                            \
  const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count recvcount, MPI_Datatype recvtype, \
      int root, MPI_Comm comm
#define INTO_ROOT_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm
#define INTO_ROOT_SIDES same(sendbuf, sendcount, sendtype), equal(recvbuf, recvcount, recvtype)
#define INTO_ROOT_ROOT root, sendbuf == MPI_IN_PLACE

#define FROM_ROOT_EACH_PARAMETERS INTO_ROOT_PARAMETERS
#define FROM_ROOT_EACH_ARGUMENTS INTO_ROOT_ARGUMENTS
#define FROM_ROOT_EACH_SIDES equal(sendbuf, sendcount, sendtype), same(recvbuf, recvcount, recvtype)
#define FROM_ROOT_EACH_ROOT root, recvbuf == MPI_IN_PLACE

#define UNEQUAL_INTO_ROOT_PARAMETERS(Count, Place)                                                      \
  const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, const Count recvcounts[], \
      const Place displs[], MPI_Datatype recvtype, int root, MPI_Comm comm
#define UNEQUAL_INTO_ROOT_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm
#define UNEQUAL_INTO_ROOT_SIDES same(sendbuf, sendcount, sendtype), several(recvbuf, recvcounts, displs, recvtype)
#define UNEQUAL_INTO_ROOT_ROOT INTO_ROOT_ROOT

#define UNEQUAL_FROM_ROOT_PARAMETERS(Count, Place)                                                           \
  const void *sendbuf, const Count sendcounts[], const Place displs[], MPI_Datatype sendtype, void *recvbuf, \
      Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm
#define UNEQUAL_FROM_ROOT_ARGUMENTS sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm
#define UNEQUAL_FROM_ROOT_SIDES several(sendbuf, sendcounts, displs, sendtype), same(recvbuf, recvcount, recvtype)
#define UNEQUAL_FROM_ROOT_ROOT FROM_ROOT_EACH_ROOT

#define ONE_TYPE_ROOT
#define TYPE_EACH_ROOT
#define EQUAL_EACH_ROOT
#define SAME_TO_ALL_ROOT
#define SAME_TO_ALL_UNEQUAL_ROOT
