#include "runtime/mpi/alone.hpp"

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/world.hpp"

namespace hocket::runtime {

MPI_Comm alone() {
  if (!in_world()) return MPI_COMM_NULL;
  static const MPI_Comm made = [] {
    const int own = 0, weight = 1;
    MPI_Comm fresh = MPI_COMM_NULL;
    check(PMPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &own, &weight, 1, &own, &weight, MPI_INFO_NULL, 0, &fresh));
    check(PMPI_Comm_set_errhandler(fresh, MPI_ERRORS_RETURN));
    return fresh;
  }();
  return made;
}

}  // namespace hocket::runtime
