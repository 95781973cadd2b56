#include "runtime/calls/block_calls.hpp"

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
  receive_.emplace(std::vector{block_of(call_.recvbuf, received, call_.recvtype)}, call_.comm);
  std::byte* from = nullptr;
  if (call_.sendbuf == MPI_IN_PLACE) {
    // Incoming data overwrites outgoing data: send from a copy.
    const PlacedBlocks in_place = packed(call_.recvbuf, received, call_.recvtype, call_.comm);
    copy_.assign(in_place.data(), in_place.data() + sent_ * static_cast<std::size_t>(size));
    from = copy_.data();
  } else {
    send_ = packed(call_.sendbuf, size * call_.sendcount, call_.sendtype, call_.comm);
    from = send_->data();
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

std::size_t GatherCall::counts(const Team& team) const { return equal_ ? 1 : static_cast<std::size_t>(team.size()); }

std::size_t GatherCall::message_bytes(const Team& team) const {
  MPI_Count elements = 0;
  for (std::size_t i = 0; i < counts(team); ++i) elements += recvcounts[i];
  return rounded_up(quick_bytes_of(elements, recvtype), counts(team));
}

std::uint64_t GatherCall::sent_bytes(const Team& team) const {
  const auto own = recvcounts[static_cast<std::size_t>(team.rank())];
  return quick_bytes_of(own, recvtype) * static_cast<std::uint64_t>(team.size() - 1);
}

std::vector<Block> GatherCall::contributions(std::size_t n) const {
  MPI_Aint lower = 0, extent = 0;
  check(PMPI_Type_get_extent(recvtype, &lower, &extent));
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < n; ++i)
    blocks.push_back({moved(recvbuf, static_cast<MPI_Aint>(places[i]) * extent), recvcounts[i], recvtype});
  return blocks;
}

void GatherCall::hold(HeldArguments& held, const Team& team) {
  sendtype = held.type(sendbuf == MPI_IN_PLACE || sendcount == 0 ? MPI_DATATYPE_NULL : sendtype);
  recvtype = held.type(recvtype);
  recvcounts = held.numbers(recvcounts, static_cast<std::size_t>(team.size()));
  places = held.numbers(places, static_cast<std::size_t>(team.size()));
}

Traffic Gather::pack() {
  const std::size_t rank = exchange().rank();
  receive_.emplace(call_.contributions(planned().demand.ranks), call_.comm);
  const std::size_t own = receive_->contribute(rank, call_.sendbuf, call_.sendcount, call_.sendtype);
  const std::size_t room = receive_->blocks()[rank].length;
  Traffic traffic = all_gather_traffic(planned(), receive_->blocks(), rank);
  traffic.spoilt = own > room;
  if (traffic.spoilt) own_differs(own, room);
  return traffic;
}

std::size_t BroadcastCall::message_bytes(const Team&) const { return quick_bytes_of(count, type); }

std::uint64_t BroadcastCall::sent_bytes(const Team& team) const {
  return team.rank() == root ? quick_bytes_of(count, type) * static_cast<std::uint64_t>(team.size() - 1) : 0;
}

Traffic Broadcast::pack() {
  std::vector<Block> blocks(planned().demand.ranks);
  const auto root = static_cast<std::size_t>(call_.root);
  blocks[root] = {static_cast<std::byte*>(call_.buffer), call_.count, call_.type};
  message_.emplace(std::move(blocks), call_.comm);
  const std::size_t rank = exchange().rank();
  if (rank == root) (void)message_->contribute(root, MPI_IN_PLACE, call_.count, call_.type);
  return all_gather_traffic(planned(), message_->blocks(), rank);
}

}  // namespace hocket::runtime
