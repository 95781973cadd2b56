/// MPI_Alltoall, as the preloaded shim hands it over. A call either runs a plan or passes the call on
/// unchanged; which one depends only on what all ranks of the communicator know alike.
#include <mpi.h>

#include "all_to_all.hpp"
#include "entry.hpp"
#include "requests.hpp"

HOCKET_CALL hocket_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm) {
  using namespace hocket::runtime;
  return guarded(comm, [&]() -> int {
    const AllToAllCall call{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm};
    const Exchange* exchange = exchange_for(call);
    if (exchange == nullptr) {
      Requests::instance().let_go();
      return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    }
    AllToAll operation(*exchange, call);
    operation.begin();
    finish(operation);
    return MPI_SUCCESS;
  });
}
