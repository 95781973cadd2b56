/// MPI_Alltoallv and MPI_Neighbor_alltoallv, persistent ones too, as the preloaded shim hands them
/// over. A call either runs a plan or is passed on unchanged; which one the ranks find out together.
#include <mpi.h>

#include <optional>
#include <utility>

#include "entry.hpp"
#include "requests.hpp"
#include "since_mpi4.hpp"
#include "vector_exchanges.hpp"
#include "vector_operation.hpp"

namespace hocket::runtime {
namespace {

/// The arguments of all these calls.
struct Arguments {
  const void* sendbuf;
  const int *sendcounts, *sdispls;
  MPI_Datatype sendtype;
  void* recvbuf;
  const int *recvcounts, *rdispls;
  MPI_Datatype recvtype;
  MPI_Comm comm;

  [[nodiscard]] VectorCall between(Neighbours neighbours) const {
    return {
        {const_cast<void*>(sendbuf), sendcounts, sdispls, sendtype, std::move(neighbours.destinations)},  // only read
        {recvbuf, recvcounts, rdispls, recvtype, std::move(neighbours.sources)},
        comm};
  }
};

/// The team of a communicator some of whose calls may be scheduled; else null, on all ranks alike.
Team* team_of(MPI_Comm comm) {
  if (!plain_intracommunicator(comm)) return nullptr;
  int size = 0;
  check(PMPI_Comm_size(comm, &size));
  if (size < 3) return nullptr;
  Team& team = Team::of(comm);
  return team.could_collide() ? &team : nullptr;
}

std::optional<Neighbours> everybody(MPI_Comm comm) { return all_ranks(comm); }

template <class NeighboursOf>
bool scheduled(const Arguments& arguments, NeighboursOf neighbours_of) {
  Team* const team = team_of(arguments.comm);
  if (team == nullptr || !team->vectors().asks()) return false;
  std::optional<Neighbours> neighbours = neighbours_of(arguments.comm);
  if (!neighbours) return false;
  VectorCall call = arguments.between(std::move(*neighbours));
  const Exchange* const exchange = team->vectors().find(arguments.comm, call.volumes());
  if (exchange == nullptr) return false;
  VectorOperation operation(*exchange, std::move(call));
  operation.begin();
  finish(operation);
  return true;
}

/// `code`: what the MPI library said when it made the request.
template <class NeighboursOf>
int served(const Arguments& arguments, MPI_Request* request, int code, NeighboursOf neighbours_of) {
  Team* const team = team_of(arguments.comm);
  if (team == nullptr) return code;
  std::optional<Neighbours> neighbours = neighbours_of(arguments.comm);
  if (!neighbours) return code;
  auto operation = persistent_operation(*team, arguments.between(std::move(*neighbours)), code != MPI_SUCCESS);
  if (operation) Requests::instance().serve(*request, std::move(operation), arguments.comm);
  return code;
}

}  // namespace
}  // namespace hocket::runtime

HOCKET_CALL hocket_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                             void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                             MPI_Comm comm) {
  using namespace hocket::runtime;
  return guarded(comm, [&]() -> int {
    if (scheduled({sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm}, everybody))
      return MPI_SUCCESS;
    Requests::instance().let_go();
    return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  });
}

HOCKET_CALL hocket_neighbor_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls,
                                      MPI_Datatype sendtype, void* recvbuf, const int* recvcounts, const int* rdispls,
                                      MPI_Datatype recvtype, MPI_Comm comm) {
  using namespace hocket::runtime;
  return guarded(comm, [&]() -> int {
    if (scheduled({sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm},
                  topology_neighbours))
      return MPI_SUCCESS;
    Requests::instance().let_go();
    return PMPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                                   comm);
  });
}

HOCKET_CALL hocket_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                                  void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  using namespace hocket::runtime;
  return guarded(comm, [&]() -> int {
    Requests::instance().let_go();  // the ranks ask each other, or wait inside the MPI library
    const int code = PMPI_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                                         comm, info, request);
    return served({sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm}, request, code,
                  everybody);
  });
}

HOCKET_CALL hocket_neighbor_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls,
                                           MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
                                           const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                           MPI_Request* request) {
  using namespace hocket::runtime;
  return guarded(comm, [&]() -> int {
    Requests::instance().let_go();  // the ranks ask each other, or wait inside the MPI library
    const int code = PMPI_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                                  recvtype, comm, info, request);
    return served({sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm}, request, code,
                  topology_neighbours);
  });
}
