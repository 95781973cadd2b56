#include "runtime/choose/small_costs.hpp"

#include <algorithm>
#include <array>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/idle.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {
namespace {

constexpr int message_tag = 0, token_tag = 1;

/// Sends to one rank and receives from another, then answers. What is received stays unread.
void step(MPI_Comm own, int to, int from) {
  char sent = 0, received = 0;
  std::array<MPI_Request, 3> requests{};
  check(PMPI_Irecv(&received, 1, MPI_BYTE, from, message_tag, own, &requests[0]));
  check(PMPI_Irecv(nullptr, 0, MPI_BYTE, to, token_tag, own, &requests[1]));
  check(PMPI_Isend(&sent, 1, MPI_BYTE, to, message_tag, own, &requests[2]));
  const auto arrived = [&](MPI_Request& request) {
    wait_for([&] {
      int done = 0;
      check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE));
      return done != 0 ? Progress::over : Progress::none;
    });
  };
  arrived(requests[0]);
  MPI_Request token = MPI_REQUEST_NULL;
  check(PMPI_Isend(nullptr, 0, MPI_BYTE, from, token_tag, own, &token));
  arrived(requests[1]);
  check(PMPI_Wait(&requests[2], MPI_STATUS_IGNORE));
  check(PMPI_Wait(&token, MPI_STATUS_IGNORE));
}

}  // namespace

SmallCosts measure_small_costs(MPI_Comm own) {
  Requests::instance().post_remaining();
  int rank = 0, size = 0;
  check(PMPI_Comm_rank(own, &rank));
  check(PMPI_Comm_size(own, &size));
  // Partners of all distances, as in a schedule. The first step may set up connections.
  constexpr int steps = 4;
  double since = 0;
  for (int k = 0; k <= steps; ++k) {
    const int distance = std::clamp(size * (k + 1) / (steps + 2), 1, size - 1);
    step(own, (rank + distance) % size, (rank + size - distance) % size);
    if (k == 0) since = PMPI_Wtime();
  }
  const auto largest = [own](double here) {
    double of_all = 0;
    run_collective(PMPI_Iallreduce, &here, &of_all, 1, MPI_DOUBLE, MPI_MAX, own);
    return of_all;
  };
  SmallCosts costs;
  costs.step_seconds = largest((PMPI_Wtime() - since) / steps);
  since = PMPI_Wtime();
  (void)largest(0);
  costs.agree_seconds = largest(PMPI_Wtime() - since);
  return costs;
}

}  // namespace hocket::runtime
