#include "runtime/calls/two_level_all_to_all.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/mpi/element_bytes.hpp"
#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {

TwoLevelAllToAll::TwoLevelAllToAll(const Exchange& exchange, const AllToAllCall& call)
    : TwoLevelOperation(exchange),
      call_(call),
      received_(bytes_of(call.recvcount, call.recvtype)),
      sent_(call.sendbuf == MPI_IN_PLACE ? received_ : bytes_of(call.sendcount, call.sendtype)) {
  begins_.resize(hosts().count());
  for (const std::size_t host : hosts_by_leader()) {
    begins_[host] = all_;
    all_ += aggregate_bytes(host);
  }
}

std::byte* TwoLevelAllToAll::going_to(std::size_t host) const { return area() + begins_[host]; }

std::byte* TwoLevelAllToAll::coming_from(std::size_t host) const {
  return host == hosts().host ? going_to(host) : area() + all_ + begins_[host];
}

void TwoLevelAllToAll::put() {
  give(sent_);
  if (sent_ > received_) differs({hosts().here()[hosts().local], sent_, received_});
  const auto size = static_cast<MPI_Count>(hosts().together);
  const bool in_place = call_.sendbuf == MPI_IN_PLACE;
  const SendBlocks send(in_place ? call_.recvbuf : call_.sendbuf, size * (in_place ? call_.recvcount : call_.sendcount),
                        in_place ? call_.recvtype : call_.sendtype, call_.comm);
  receive_.emplace(call_.recvbuf, size * call_.recvcount, call_.recvtype, call_.comm);
  for (std::size_t host = 0; host < hosts().count(); ++host) {
    const std::vector<Rank>& there = hosts().ranks[host];
    std::byte* to = going_to(host) + hosts().local * there.size() * sent_;
    for (const Rank rank : there) {
      std::memcpy(to, send.data() + rank * sent_, sent_);
      to += sent_;
    }
  }
}

Traffic TwoLevelAllToAll::traffic() {
  Traffic traffic;
  for (const auto& send : planned().program.sends) {
    const std::size_t host = hosts().host_of[send.dst];
    traffic.sends.add(going_to(host), aggregate_bytes(host));
    traffic.sends.end_message();
  }
  for (const auto& receive : planned().program.receives) {
    const std::size_t host = hosts().host_of[receive.src];
    traffic.receives.add(coming_from(host), aggregate_bytes(host));
    traffic.receives.end_message();
  }
  return traffic;
}

/// A host whose ranks differ sends nothing that is right. One byte leaves the mark that is there.
Span TwoLevelAllToAll::going_out(std::size_t host) {
  put_mark(mark_of(host, going_to(host)));
  return {going_to(host), spoilt() ? 1 : aggregate_bytes(host)};
}

/// Whatever comes to one has room.
Span TwoLevelAllToAll::coming_in(std::size_t host) {
  std::memset(mark_of(host, coming_from(host)), 0, mark_bytes());
  if (!spoilt()) return {coming_from(host), aggregate_bytes(host)};
  const std::size_t most = memory().bytes() / 2;
  return {strays_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(most)).get(), most};
}

void TwoLevelAllToAll::carry(MPI_Comm leaders, MPI_Request* request) {
  std::byte* const out = area();
  std::byte* const in = area() + all_;
  counts_.clear(), places_.clear();
  for (const std::size_t host : hosts_by_leader()) {
    put_mark(mark_of(host, going_to(host)));
    counts_.push_back(static_cast<int>(aggregate_bytes(host)));
    places_.push_back(static_cast<int>(begins_[host]));
  }
  // Equal ones have algorithms of their own, for short messages above all.
  if (hosts().together == hosts().most * hosts().count())
    check(PMPI_Ialltoall(out, counts_[0], MPI_BYTE, in, counts_[0], MPI_BYTE, leaders, request));
  else
    check(PMPI_Ialltoallv(out, counts_.data(), places_.data(), MPI_BYTE, in, counts_.data(), places_.data(), MPI_BYTE,
                          leaders, request));
}

void TwoLevelAllToAll::take() {
  const std::size_t row = hosts().here().size() * sent_;
  for (std::size_t host = 0; host < hosts().count(); ++host) {
    if (host != hosts().host) check_mark(mark_of(host, coming_from(host)), host);
    const std::byte* from = coming_from(host) + hosts().local * sent_;
    for (const Rank rank : hosts().ranks[host]) {
      std::memcpy(receive_->data() + rank * received_, from, std::min(sent_, received_));
      from += row;
    }
  }
  receive_->finish();
}

}  // namespace hocket::runtime
