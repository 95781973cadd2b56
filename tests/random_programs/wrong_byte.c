/* A library to be preloaded that is wrong: after every MPI_Alltoall of more than two ranks one byte is another. */
#include <mpi.h>

int MPI_Alltoall(const void* out, int count_out, MPI_Datatype type_out, void* in, int count_in, MPI_Datatype type_in,
                 MPI_Comm comm) {
  const int code = PMPI_Alltoall(out, count_out, type_out, in, count_in, type_in, comm);
  MPI_Aint lower, extent;
  int n;
  if (code != MPI_SUCCESS || in == MPI_BOTTOM || count_in == 0) return code;
  PMPI_Comm_size(comm, &n);
  PMPI_Type_get_true_extent(type_in, &lower, &extent);
  if (n > 2) ((unsigned char*)in)[lower] ^= 1;
  return code;
}
