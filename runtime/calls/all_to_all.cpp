#include "runtime/calls/all_to_all.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/mpi/datatypes.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {

std::size_t AllToAllCall::message_bytes(const Team&) const {
  return sendbuf == MPI_IN_PLACE ? quick_bytes_of(recvcount, recvtype) : quick_bytes_of(sendcount, sendtype);
}

std::uint64_t AllToAllCall::sent_bytes(const Team& team) const {
  return message_bytes(team) * static_cast<std::uint64_t>(team.size() - 1);
}

AllToAll::AllToAll(const Exchange& exchange, const AllToAllCall& call)
    : ScheduledOperation(exchange),
      call_(call),
      received_(bytes_of(call.recvcount, call.recvtype)),
      sent_(call.sendbuf == MPI_IN_PLACE ? received_ : bytes_of(call.sendcount, call.sendtype)) {}

Traffic AllToAll::pack() {
  const MPI_Count size = planned().demand.ranks, received = size * call_.recvcount;
  receive_.emplace(call_.recvbuf, received, call_.recvtype, call_.comm);
  std::byte* from = nullptr;
  if (call_.sendbuf == MPI_IN_PLACE) {
    // Incoming data overwrites outgoing data: send from a copy.
    const SendBlocks in_place(call_.recvbuf, received, call_.recvtype, call_.comm);
    copy_.assign(in_place.data(), in_place.data() + sent_ * static_cast<std::size_t>(size));
    from = copy_.data();
  } else {
    send_.emplace(call_.sendbuf, size * call_.sendcount, call_.sendtype, call_.comm);
    from = const_cast<std::byte*>(send_->data());  // only read from
  }
  const std::size_t own = exchange().rank();
  std::byte* const own_to = receive_->data() + own * received_;
  const std::byte* const own_from = from + own * sent_;
  if (own_to != own_from) std::memcpy(own_to, own_from, std::min(sent_, received_));
  if (sent_ > received_) own_differs(sent_, received_);
  const Span sends{from, sent_}, receives{receive_->data(), received_};
  if (!planned().relays()) return all_to_all_traffic(planned().program, sends, receives);
  return relayed_traffic(planned(), static_cast<Rank>(own), sends, receives, relayed_);
}

}  // namespace hocket::runtime
