#include "runtime/agreement/private_comm.hpp"

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {

#ifdef MPICH_VERSION
namespace {
/// Tag for MPI_Comm_create_group, since a program's thread may create a communicator of the same ranks meanwhile.
constexpr int tag_of_private = 27182;
}  // namespace
#endif

/// Not a duplicate: that would copy the program's attributes.
PrivateComm::PrivateComm(MPI_Comm parent) {
#ifdef MPICH_VERSION
  // Ranks agree by messages here, in MPI_Comm_split by reductions that keep processors: see reduce().
  MPI_Group group = MPI_GROUP_NULL;
  check(PMPI_Comm_group(parent, &group));
  const int code = wait_in_mpi(PMPI_Comm_create_group, parent, group, tag_of_private, &comm_);
  check(PMPI_Group_free(&group));
  check(code);
#else
  check(PMPI_Comm_rank(parent, &rank_));
  check(wait_in_mpi(PMPI_Comm_split, parent, 0, rank_, &comm_));
#endif
  begin();
}

PrivateComm::PrivateComm(MPI_Comm parent, int colour) {
  check(PMPI_Comm_rank(parent, &rank_));
  check(wait_in_mpi(PMPI_Comm_split, parent, colour, rank_, &comm_));
  begin();
}

void PrivateComm::begin() {
  if (comm_ == MPI_COMM_NULL) return;
  check(PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  check(PMPI_Comm_rank(comm_, &rank_));
  check(PMPI_Comm_size(comm_, &size_));
}

PrivateComm::~PrivateComm() {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (comm_ != MPI_COMM_NULL && !finalized) PMPI_Comm_free(&comm_);
}

}  // namespace hocket::runtime
