#include "private_comms.hpp"

#include <algorithm>

#include "mpi_call.hpp"
#include "requests.hpp"

namespace hocket::runtime {

PrivateComms::Lease::~Lease() {
  if (!pool_) return;
  const std::lock_guard lock(pool_->mutex_);
  pool_->comms_[place_].leased = false;
}

PrivateComms::Lease PrivateComms::lease(MPI_Comm parent) {
  Requests::instance().let_go();
  std::vector<unsigned char> free_here, free_everywhere;
  {
    const std::lock_guard lock(mutex_);
    for (const Own& own : comms_) free_here.push_back(own.leased ? 0 : 1);
  }
  free_everywhere.resize(free_here.size());
  if (!free_here.empty())
    check(PMPI_Allreduce(free_here.data(), free_everywhere.data(), static_cast<int>(free_here.size()),
                         MPI_UNSIGNED_CHAR, MPI_MIN, parent));
  const auto found = std::find(free_everywhere.begin(), free_everywhere.end(), 1);
  const auto place = static_cast<std::size_t>(found - free_everywhere.begin());
  MPI_Comm fresh = MPI_COMM_NULL;
  if (found == free_everywhere.end()) {
    int rank = 0;
    check(PMPI_Comm_rank(parent, &rank));
    check(PMPI_Comm_split(parent, 0, rank, &fresh));
    check(PMPI_Comm_set_errhandler(fresh, MPI_ERRORS_RETURN));
  }
  const std::lock_guard lock(mutex_);
  if (fresh != MPI_COMM_NULL) comms_.push_back({fresh, false});
  comms_[place].leased = true;
  return {shared_from_this(), place, comms_[place].comm};
}

/// Collective by the standard, but local in both MPI families: a program may free its last request
/// after the communicator, and that is local.
PrivateComms::~PrivateComms() {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (finalized) return;
  for (Own& own : comms_) PMPI_Comm_free(&own.comm);
}

}  // namespace hocket::runtime
