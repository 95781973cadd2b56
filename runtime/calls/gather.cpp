#include "runtime/calls/gather.hpp"

#include "runtime/mpi/datatypes.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {

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

OwnGather::OwnGather(const GatherCall& call, const Team& team)
    : send_(call.sendbuf == MPI_IN_PLACE || call.sendcount == 0 ? MPI_DATATYPE_NULL : call.sendtype),
      receive_(call.recvtype) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(team.size()); ++i) {
    counts_.push_back(call.recvcounts[i]);
    places_.push_back(call.places[i]);
  }
}

GatherCall OwnGather::instead_of(GatherCall call) const {
  call.sendtype = send_.get();
  call.recvtype = receive_.get();
  call.recvcounts = Numbers(counts_.data());
  call.places = Numbers(places_.data());
  return call;
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
