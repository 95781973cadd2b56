/// MPI_Allgather and MPI_Allgatherv, as the preloaded shim hands them over. A call either runs a
/// plan or is passed on unchanged; which one depends only on what the ranks receive, which is the
/// same on all of them.
#include <mpi.h>

#include <utility>
#include <vector>

#include "blocks.hpp"
#include "entry.hpp"
#include "requests.hpp"
#include "settings.hpp"
#include "team.hpp"

namespace hocket::runtime {
namespace {

struct GatherCall {
  const void* sendbuf;
  int sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// Runs the plan of the communicator; false if the MPI library is to serve the call.
bool scheduled(const GatherCall& call, std::size_t average, std::vector<int> counts, std::vector<MPI_Aint> places) {
  Team& team = Team::of(call.comm);
  if (!team.could_collide() || average < team.least_gather_bytes()) return false;
  Exchange* const exchange = team.exchange(call.comm, Pattern::all_gather);
  if (exchange == nullptr || !fits(exchange->planned().demand, counts)) return false;
  int rank = 0;
  check(PMPI_Comm_rank(call.comm, &rank));
  const auto own = static_cast<std::size_t>(rank);
  GatherBlocks receive(call.recvbuf, std::move(counts), std::move(places), call.recvtype, call.comm);
  receive.contribute(own, call.sendbuf, call.sendcount, call.sendtype);
  exchange->run(all_gather_traffic(exchange->planned(), receive.blocks(), own));
  receive.finish();
  return true;
}

bool scheduled_equal(const GatherCall& call, int recvcount) {
  if (!plain_intracommunicator(call.comm) || call.recvtype == MPI_DATATYPE_NULL || recvcount <= 0) return false;
  const std::size_t bytes = bytes_of(recvcount, call.recvtype);
  int n = 0;
  check(PMPI_Comm_size(call.comm, &n));
  std::vector<MPI_Aint> places;
  for (int i = 0; i < n; ++i) places.push_back(static_cast<MPI_Aint>(i) * recvcount);
  return scheduled(call, bytes, std::vector<int>(static_cast<std::size_t>(n), recvcount), std::move(places));
}

bool scheduled_unequal(const GatherCall& call, const int* recvcounts, const int* displs) {
  if (!plain_intracommunicator(call.comm) || call.recvtype == MPI_DATATYPE_NULL || recvcounts == nullptr ||
      displs == nullptr)
    return false;
  int n = 0;
  check(PMPI_Comm_size(call.comm, &n));
  MPI_Aint elements = 0;
  for (int i = 0; i < n; ++i) {
    if (recvcounts[i] < 0) return false;
    elements += recvcounts[i];
  }
  const std::size_t average = bytes_of(elements, call.recvtype) / static_cast<std::size_t>(n);
  if (elements == 0) return false;
  return scheduled(call, average, {recvcounts, recvcounts + n}, {displs, displs + n});
}

}  // namespace
}  // namespace hocket::runtime

HOCKET_CALL hocket_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                             MPI_Datatype recvtype, MPI_Comm comm) {
  using namespace hocket::runtime;
  return guarded(comm, [&]() -> int {
    if (scheduled_equal({sendbuf, sendcount, sendtype, recvbuf, recvtype, comm}, recvcount)) return MPI_SUCCESS;
    Requests::instance().let_go();
    return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

HOCKET_CALL hocket_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                              const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  using namespace hocket::runtime;
  return guarded(comm, [&]() -> int {
    if (scheduled_unequal({sendbuf, sendcount, sendtype, recvbuf, recvtype, comm}, recvcounts, displs))
      return MPI_SUCCESS;
    Requests::instance().let_go();
    return PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  });
}
