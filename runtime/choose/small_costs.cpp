#include "runtime/choose/small_costs.hpp"

#include <algorithm>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/agree.hpp"
#include "runtime/progress/requests.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {
namespace {

constexpr int message_tag = 0, token_tag = 1;

/// Sends to one rank and receives from another, then answers. What is received stays unread.
void step(MPI_Comm own, int to, int from) {
  char sent = 0, received = 0;
  MPI_Request message{}, token{}, out{}, answer{};
  check(PMPI_Irecv(&received, 1, MPI_BYTE, from, message_tag, own, &message));
  check(PMPI_Irecv(nullptr, 0, MPI_BYTE, to, token_tag, own, &token));
  check(PMPI_Isend(&sent, 1, MPI_BYTE, to, message_tag, own, &out));
  wait_until_done(message);
  check(PMPI_Isend(nullptr, 0, MPI_BYTE, from, token_tag, own, &answer));
  for (MPI_Request* const one : {&token, &out, &answer}) wait_until_done(*one);
}

/// Seconds of a step, in which this rank sends one message and gets another, to partners a third of the ranks away: the
/// least of some, since where ranks outnumber cores one that waits for its turn takes many times as long. The first may
/// open connections.
double measure_step(MPI_Comm stepping) {
  int rank = 0, size = 0;
  check(PMPI_Comm_rank(stepping, &rank));
  check(PMPI_Comm_size(stepping, &size));
  const int distance = std::max(size / 3, 1);
  const auto go = [&] { step(stepping, (rank + distance) % size, (rank + size - distance) % size); };
  go();
  double least = 0;
  for (int k = 0; k < 4; ++k) {
    const double since = PMPI_Wtime();
    go();
    const double seconds = PMPI_Wtime() - since;
    least = k == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

}  // namespace

double slowest(MPI_Comm comm, double here) {
  double of_all = 0;
  reduce(&here, &of_all, 1, MPI_DOUBLE, MPI_MAX, comm);
  return of_all;
}

double measure_agreement(MPI_Comm comm) {
  (void)slowest(comm, 0);
  constexpr int times = 2;
  const double since = PMPI_Wtime();
  for (int k = 0; k < times; ++k) (void)slowest(comm, 0);
  return slowest(comm, (PMPI_Wtime() - since) / times);
}

SmallCosts measure_small_costs(MPI_Comm own, MPI_Comm stepping) {
  Requests::instance().post_remaining();
  SmallCosts costs;
  constexpr double messages = 2;  // that a rank handles in a step
  costs.step_seconds = slowest(own, stepping != MPI_COMM_NULL ? measure_step(stepping) : 0) / messages;
  costs.agree_seconds = measure_agreement(own);
  return costs;
}

}  // namespace hocket::runtime
