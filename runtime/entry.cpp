/// The calls that the preloaded shim hands over. Each either runs a plan or passes the call on
/// unchanged; which one depends only on what all ranks of the communicator know alike.
#include <mpi.h>

#include <cstring>
#include <new>

#include "blocks.hpp"
#include "mpi_call.hpp"
#include "plan_store.hpp"
#include "settings.hpp"
#include "team.hpp"

namespace hocket::runtime {
namespace {

/// The signature (count × type) of every message is the same on all ranks, so this is too.
std::size_t message_bytes(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int recvcount,
                          MPI_Datatype recvtype) {
  return sendbuf == MPI_IN_PLACE ? bytes_of(recvcount, recvtype) : bytes_of(sendcount, sendtype);
}

bool plain_intracommunicator(MPI_Comm comm) {
  int inter = 0;
  return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter;
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
    exchange.run(copy.data(), receive.data(), bytes);
    if (receive.data() != recvbuf) std::memcpy(receive.data() + own, copy.data() + own, bytes);
  } else {
    const SendBlocks send(sendbuf, sendcount, sendtype, n, comm);
    std::memcpy(receive.data() + own, send.data() + own, bytes);
    exchange.run(send.data(), receive.data(), bytes);
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
  Exchange* exchange = nullptr;
  std::size_t bytes = 0;
  try {
    if (plain_intracommunicator(comm) && well_formed(sendcount, sendtype, sendbuf, recvcount, recvtype)) {
      bytes = message_bytes(sendbuf, sendcount, sendtype, recvcount, recvtype);
      if (bytes >= settings().min_bytes) exchange = Team::of(comm).all_to_all();
    }
    if (exchange == nullptr) return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    scheduled_all_to_all(*exchange, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, bytes);
    return MPI_SUCCESS;
  } catch (const MpiFailure& failure) {
    PMPI_Comm_call_errhandler(comm, failure.code);
    return failure.code;
  } catch (const std::bad_alloc&) {
    PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
  }
}
