#include "runtime/choose/agreed_costs.hpp"

#include <limits>
#include <utility>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/wait_in_mpi.hpp"

namespace hocket::runtime {

void AgreedCosts::begin(MPI_Comm comm) {
  if (meet_first_) check(wait_in_mpi(PMPI_Barrier, comm));
  own_.push_back(std::numeric_limits<double>::infinity());
  since_ = std::chrono::steady_clock::now();
}

void AgreedCosts::end() {
  own_.back() = std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
}

std::vector<double> AgreedCosts::agree(MPI_Comm comm, std::optional<double> besides) {
  std::vector<double> own = std::exchange(own_, {});
  if (besides) own.push_back(*besides);
  std::vector<double> all(own.size());
  const Cost cost = meet_first_ ? Cost::most : cost_;
  if (cost == Cost::mean) {
    int ranks = 0;
    check(PMPI_Comm_size(comm, &ranks));
    for (double& seconds : own) seconds /= ranks;
  }
  const MPI_Op op = cost == Cost::mean ? MPI_SUM : MPI_MAX;
  check(wait_in_mpi(PMPI_Allreduce, own.data(), all.data(), static_cast<int>(own.size()), MPI_DOUBLE, op, comm));
  return all;
}

}  // namespace hocket::runtime
