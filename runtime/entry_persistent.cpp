/// MPI_Alltoall_init, as the preloaded shim hands it over. The MPI library makes the request; if the
/// call can be scheduled the runtime serves it, else it is the library's.
#include <mpi.h>

#include <memory>
#include <optional>
#include <utility>

#include "all_to_all.hpp"
#include "entry.hpp"
#include "held_type.hpp"
#include "persistent.hpp"
#include "requests.hpp"
#include "since_mpi4.hpp"
#include "team.hpp"

namespace hocket::runtime {
namespace {

class OwnTypes {
 public:
  explicit OwnTypes(const AllToAllCall& call)
      : send_(call.sendbuf == MPI_IN_PLACE ? MPI_DATATYPE_NULL : call.sendtype), receive_(call.recvtype) {}

  [[nodiscard]] AllToAllCall instead_of(AllToAllCall call) const {
    call.sendtype = send_.get();
    call.recvtype = receive_.get();
    return call;
  }

 private:
  HeldType send_, receive_;
};

using PersistentAllToAll = Persistent<AllToAll, OwnTypes>;

}  // namespace
}  // namespace hocket::runtime

HOCKET_CALL hocket_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
  using namespace hocket::runtime;
  return guarded(comm, [&]() -> int {
    const int code =
        PMPI_Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
    if (code != MPI_SUCCESS) return code;
    const AllToAllCall call{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm};
    const Exchange* const exchange = exchange_for(call);
    if (exchange == nullptr) return code;
    if (std::optional<PrivateComms::Lease> lease = Team::of(comm).lease(comm))
      Requests::instance().serve(
          *request, std::make_unique<PersistentAllToAll>(std::move(*lease), exchange->planned(), call), comm);
    return code;
  });
}
