#include "runtime/choose/agreed_costs.hpp"

#include <utility>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/idle.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {

void AgreedCosts::drop() {
  for (Post& post : posts_) (void)PMPI_Wait(&post.request, MPI_STATUS_IGNORE);
  posts_.clear();
}

void AgreedCosts::post(MPI_Comm comm) {
  Post& post = posts_.emplace_back();
  post.own = std::exchange(noted_, {});
  post.all.resize(post.own.size());
  if (cost_ == Cost::mean) {
    int ranks = 0;
    check(PMPI_Comm_size(comm, &ranks));
    for (double& seconds : post.own) seconds /= ranks;
  }
  check(PMPI_Iallreduce(post.own.data(), post.all.data(), static_cast<int>(post.own.size()), MPI_DOUBLE,
                        cost_ == Cost::mean ? MPI_SUM : MPI_MIN, comm, &post.request));
}

std::vector<double> AgreedCosts::collect() {
  Requests::instance().post_remaining();
  Post& post = posts_.front();
  wait_for([&] {
    int done = 0;
    check(PMPI_Test(&post.request, &done, MPI_STATUS_IGNORE));
    return done != 0 ? Progress::over : Progress::none;
  });
  std::vector<double> costs = std::move(post.all);
  posts_.pop_front();
  return costs;
}

}  // namespace hocket::runtime
