#include "runtime/choose/agreed_cost.hpp"

#include <array>
#include <limits>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/agree.hpp"

namespace hocket::runtime {

void AgreedCost::begin() {
  own_ = std::numeric_limits<double>::infinity();
  since_ = std::chrono::steady_clock::now();
}

void AgreedCost::end(double times) {
  own_ = times * std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
}

AgreedCost::Agreed AgreedCost::agree(MPI_Comm comm, double wires, bool together) {
  std::array own{*own_, wires, together ? 1.0 : 0.0}, all{0.0, 0.0, 0.0};
  own_.reset();
  int ranks = 1;
  if (of_ == Of::mean) check(PMPI_Comm_size(comm, &ranks));
  for (double& one : own) one /= ranks;
  reduce(own.data(), all.data(), static_cast<int>(own.size()), MPI_DOUBLE, of_ == Of::mean ? MPI_SUM : MPI_MAX, comm);
  return {all[0], all[1], all[2] > 0};
}

}  // namespace hocket::runtime
