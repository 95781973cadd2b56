#include "runtime/choose/agreed_costs.hpp"

#include <limits>
#include <utility>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/agree.hpp"

namespace hocket::runtime {
namespace {

std::vector<double> over_ranks(MPI_Comm comm, std::vector<double> own, AgreedCosts::Cost cost) {
  using Cost = AgreedCosts::Cost;
  std::vector<double> all(own.size());
  if (cost == Cost::mean) {
    int ranks = 0;
    check(PMPI_Comm_size(comm, &ranks));
    for (double& seconds : own) seconds /= ranks;
  }
  const MPI_Op op = cost == Cost::mean ? MPI_SUM : MPI_MAX;
  reduce(own.data(), all.data(), static_cast<int>(own.size()), MPI_DOUBLE, op, comm);
  return all;
}

}  // namespace

void AgreedCosts::begin(MPI_Comm comm) {
  if (meet_first_) wait_for_all(comm);
  own_.push_back(std::numeric_limits<double>::infinity());
  since_ = std::chrono::steady_clock::now();
}

void AgreedCosts::end() {
  own_.back() = std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
}

Deadline AgreedCosts::after(double seconds, bool timed) const {
  constexpr double longest = 1e6;
  if (!(seconds < longest)) return never;
  const auto wait = std::chrono::duration_cast<Deadline::duration>(std::chrono::duration<double>(seconds));
  return (timed ? since_ : std::chrono::steady_clock::now()) + wait;
}

std::vector<double> AgreedCosts::agree(MPI_Comm comm, std::optional<double> besides) {
  told_ = std::exchange(own_, {});
  std::vector<double> own = told_;
  if (besides) own.push_back(*besides);
  return over_ranks(comm, std::move(own), meet_first_ ? Cost::most : cost_);
}

std::vector<double> AgreedCosts::as_if_unmet(MPI_Comm comm) const { return over_ranks(comm, told_, cost_); }

}  // namespace hocket::runtime
