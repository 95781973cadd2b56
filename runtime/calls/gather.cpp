#include "runtime/calls/gather.hpp"

#include "runtime/mpi/element_bytes.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/settings.hpp"
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

Gather::Gather(const Exchange& exchange, const GatherCall& call) : ScheduledOperation(exchange), call_(call) {
  int rank = 0, size = 0;
  check(PMPI_Comm_rank(call_.comm, &rank));
  check(PMPI_Comm_size(call_.comm, &size));
  rank_ = static_cast<std::size_t>(rank);
  size_ = static_cast<std::size_t>(size);
}

Traffic Gather::pack() {
  receive_.emplace(call_.contributions(size_), call_.comm);
  const std::size_t own = receive_->contribute(rank_, call_.sendbuf, call_.sendcount, call_.sendtype);
  const std::size_t room = receive_->blocks()[rank_].length;
  Traffic traffic = all_gather_traffic(planned(), receive_->blocks(), rank_);
  traffic.spoilt = own > room;
  if (traffic.spoilt) own_differs(own, room);
  return traffic;
}

}  // namespace hocket::runtime
