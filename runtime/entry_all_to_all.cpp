/// MPI_Alltoall, as the preloaded shim hands it over. A call either runs a plan or passes the call on
/// unchanged; which one depends only on what all ranks of the communicator know alike.
#include <mpi.h>

#include <cstring>

#include "blocks.hpp"
#include "entry.hpp"
#include "settings.hpp"
#include "team.hpp"

namespace hocket::runtime {
namespace {

/// The signature (count × type) of every message is the same on all ranks, so this is too.
std::size_t message_bytes(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int recvcount,
                          MPI_Datatype recvtype) {
  return sendbuf == MPI_IN_PLACE ? bytes_of(recvcount, recvtype) : bytes_of(sendcount, sendtype);
}

/// Arguments that the standard calls erroneous are left to the MPI library, which knows what to say.
bool well_formed(int sendcount, MPI_Datatype sendtype, const void* sendbuf, int recvcount, MPI_Datatype recvtype) {
  if (recvcount <= 0 || recvtype == MPI_DATATYPE_NULL) return false;
  return sendbuf == MPI_IN_PLACE || (sendcount > 0 && sendtype != MPI_DATATYPE_NULL);
}

void scheduled_all_to_all(Exchange& exchange, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm, std::size_t bytes) {
  int n = 0, rank = 0;
  check(PMPI_Comm_size(comm, &n));
  check(PMPI_Comm_rank(comm, &rank));
  const std::size_t own = bytes * static_cast<std::size_t>(rank);
  ReceiveBlocks receive(recvbuf, recvcount, recvtype, n, comm);
  if (sendbuf == MPI_IN_PLACE) {
    // What must go out is overwritten by what comes in: send from a copy.
    const SendBlocks in_place(recvbuf, recvcount, recvtype, n, comm);
    const std::vector<std::byte> copy(in_place.data(), in_place.data() + bytes * static_cast<std::size_t>(n));
    exchange.run(all_to_all_traffic(exchange.planned().program, copy.data(), receive.data(), bytes));
    if (receive.data() != recvbuf) std::memcpy(receive.data() + own, copy.data() + own, bytes);
  } else {
    const SendBlocks send(sendbuf, sendcount, sendtype, n, comm);
    std::memcpy(receive.data() + own, send.data() + own, bytes);
    exchange.run(all_to_all_traffic(exchange.planned().program, send.data(), receive.data(), bytes));
  }
  receive.finish();
}

}  // namespace
}  // namespace hocket::runtime

extern "C" __attribute__((visibility("default"))) int hocket_alltoall(const void* sendbuf, int sendcount,
                                                                      MPI_Datatype sendtype, void* recvbuf,
                                                                      int recvcount, MPI_Datatype recvtype,
                                                                      MPI_Comm comm) {
  using namespace hocket::runtime;
  return guarded(comm, [&] {
    Exchange* exchange = nullptr;
    std::size_t bytes = 0;
    if (plain_intracommunicator(comm) && well_formed(sendcount, sendtype, sendbuf, recvcount, recvtype)) {
      bytes = message_bytes(sendbuf, sendcount, sendtype, recvcount, recvtype);
      if (bytes >= settings().min_bytes) exchange = Team::of(comm).exchange(comm, hocket::Pattern::all_to_all);
    }
    if (exchange == nullptr) return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    scheduled_all_to_all(*exchange, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, bytes);
    return MPI_SUCCESS;
  });
}
