#include "runtime/calls/all_to_all.hpp"

#include <cstring>

#include "runtime/mpi/element_bytes.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {

bool AllToAllCall::well_formed(const Team&) const {
  if (recvcount < 0 || recvtype == MPI_DATATYPE_NULL) return false;
  return sendbuf == MPI_IN_PLACE || (sendcount >= 0 && sendtype != MPI_DATATYPE_NULL);
}

bool AllToAllCall::usable(const Team& team) const {
  const int n = team.size();
  if (!runtime::usable(recvbuf, n * recvcount, recvtype)) return false;
  return sendbuf == MPI_IN_PLACE ||
         (runtime::usable(sendbuf, n * sendcount, sendtype) && !forbidden_alias(sendbuf, recvbuf));
}

std::size_t AllToAllCall::message_bytes(const Team&) const {
  return sendbuf == MPI_IN_PLACE ? quick_bytes_of(recvcount, recvtype) : quick_bytes_of(sendcount, sendtype);
}

std::uint64_t AllToAllCall::limit() { return settings().min_bytes; }

std::size_t AllToAllCall::usual_limit(const Team&) { return least_bytes_scheduled; }

std::uint64_t AllToAllCall::sent_bytes(const Team& team) const {
  return message_bytes(team) * static_cast<std::uint64_t>(team.size() - 1);
}

AllToAll::AllToAll(const Exchange& exchange, const AllToAllCall& call)
    : ScheduledOperation(exchange),
      call_(call),
      bytes_(call.sendbuf == MPI_IN_PLACE ? bytes_of(call.recvcount, call.recvtype)
                                          : bytes_of(call.sendcount, call.sendtype)) {
  check(PMPI_Comm_size(call_.comm, &size_));
  check(PMPI_Comm_rank(call_.comm, &rank_));
}

Traffic AllToAll::pack() {
  const MPI_Count received = size_ * call_.recvcount;
  const std::size_t own = bytes_ * static_cast<std::size_t>(rank_);
  receive_.emplace(call_.recvbuf, received, call_.recvtype, call_.comm);
  const std::byte* from = nullptr;
  if (call_.sendbuf == MPI_IN_PLACE) {
    // What must go out is overwritten by what comes in: send from a copy.
    const SendBlocks in_place(call_.recvbuf, received, call_.recvtype, call_.comm);
    copy_.assign(in_place.data(), in_place.data() + bytes_ * static_cast<std::size_t>(size_));
    from = copy_.data();
  } else {
    send_.emplace(call_.sendbuf, size_ * call_.sendcount, call_.sendtype, call_.comm);
    from = send_->data();
  }
  if (receive_->data() + own != from + own) std::memcpy(receive_->data() + own, from + own, bytes_);
  return all_to_all_traffic(planned().program, from, receive_->data(), bytes_);
}

}  // namespace hocket::runtime
