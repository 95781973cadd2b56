#include "all_to_all.hpp"

#include <cstring>

#include "entry.hpp"
#include "settings.hpp"
#include "team.hpp"

namespace hocket::runtime {

bool AllToAllCall::well_formed() const {
  if (recvcount <= 0 || recvtype == MPI_DATATYPE_NULL) return false;
  return sendbuf == MPI_IN_PLACE || (sendcount > 0 && sendtype != MPI_DATATYPE_NULL);
}

std::size_t AllToAllCall::message_bytes() const {
  return sendbuf == MPI_IN_PLACE ? bytes_of(recvcount, recvtype) : bytes_of(sendcount, sendtype);
}

Exchange* exchange_for(const AllToAllCall& call) {
  if (!call.well_formed()) return nullptr;
  Team* const team = Team::of_any(call.comm);
  if (team == nullptr || !team->could_collide() || call.message_bytes() < settings().min_bytes) return nullptr;
  return team->exchange(call.comm, Pattern::all_to_all);
}

AllToAll::AllToAll(const Exchange& exchange, const AllToAllCall& call) : ScheduledOperation(exchange), call_(call) {
  check(PMPI_Comm_size(call_.comm, &size_));
  check(PMPI_Comm_rank(call_.comm, &rank_));
}

Traffic AllToAll::pack() {
  const std::size_t bytes = call_.message_bytes(), own = bytes * static_cast<std::size_t>(rank_);
  receive_.emplace(call_.recvbuf, call_.recvcount, call_.recvtype, size_, call_.comm);
  const std::byte* from = nullptr;
  if (call_.sendbuf == MPI_IN_PLACE) {
    // What must go out is overwritten by what comes in: send from a copy.
    const SendBlocks in_place(call_.recvbuf, call_.recvcount, call_.recvtype, size_, call_.comm);
    copy_.assign(in_place.data(), in_place.data() + bytes * static_cast<std::size_t>(size_));
    from = copy_.data();
  } else {
    send_.emplace(call_.sendbuf, call_.sendcount, call_.sendtype, size_, call_.comm);
    from = send_->data();
  }
  if (receive_->data() + own != from + own) std::memcpy(receive_->data() + own, from + own, bytes);
  return all_to_all_traffic(planned().program, from, receive_->data(), bytes);
}

}  // namespace hocket::runtime
