#pragma once
/* MPI's calls in which all ranks know all sizes:
 *
 *   X(Name, name, Call, shape)    which arguments; the class that describes a call of them
 *
 * Each exists as a blocking, a nonblocking (I...) and a persistent (_init) call, and all three once more with large
 * counts (_c): MPI_Count and MPI_Aint in place of both ints. The shapes are those of locally_sized.h. */
#define GLOBALLY_SIZED_CALLS(X)                    \
  X(Alltoall, alltoall, AllToAllCall, EQUAL_EACH)  \
  X(Allgather, allgather, GatherCall, SAME_TO_ALL) \
  X(Allgatherv, allgatherv, GatherCall, SAME_TO_ALL_UNEQUAL)
