#include "runtime/calls/two_level_calls.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "runtime/mpi/datatypes.hpp"

namespace hocket::runtime {

TwoLevelAllToAll::TwoLevelAllToAll(const Exchange& exchange, const AllToAllCall& call)
    : TwoLevelOperation(exchange),
      call_(call),
      received_(bytes_of(call.recvcount, call.recvtype)),
      sent_(call.sendbuf == MPI_IN_PLACE ? received_ : bytes_of(call.sendcount, call.sendtype)),
      layout_(hosts(), hosts().host,
              [&](std::size_t src, std::size_t dst) { return hosts().blocks(src, dst) * sent_ + mark_bytes(); }) {}

void TwoLevelAllToAll::put() {
  give(sent_);
  if (sent_ > received_) differs({hosts().here()[hosts().local], sent_, received_});
  const auto size = static_cast<MPI_Count>(hosts().together);
  const bool in_place = call_.sendbuf == MPI_IN_PLACE;
  const PlacedBlocks send =
      packed(in_place ? call_.recvbuf : call_.sendbuf, size * (in_place ? call_.recvcount : call_.sendcount),
             in_place ? call_.recvtype : call_.sendtype, call_.comm);
  receive_.emplace(std::vector{block_of(call_.recvbuf, size * call_.recvcount, call_.recvtype)}, call_.comm);
  for (std::size_t host = 0; host < hosts().count(); ++host) {
    const std::vector<Rank>& there = hosts().ranks[host];
    std::byte* to = going_to(host) + AggregateLayout::block(hosts().local, 0, there.size()) * sent_;
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
  std::byte* const in = area() + layout_.incoming();
  counts_.clear(), places_.clear();
  for (const std::size_t host : hosts().by_leader) {
    put_mark(mark_of(host, going_to(host)));
    counts_.push_back(static_cast<int>(aggregate_bytes(host)));
    places_.push_back(static_cast<int>(layout_.going_out(host)));
  }
  // Equal ones have algorithms of their own, for short messages above all.
  if (hosts().equal())
    check(PMPI_Ialltoall(out, counts_[0], MPI_BYTE, in, counts_[0], MPI_BYTE, leaders, request));
  else
    check(PMPI_Ialltoallv(out, counts_.data(), places_.data(), MPI_BYTE, in, counts_.data(), places_.data(), MPI_BYTE,
                          leaders, request));
}

void TwoLevelAllToAll::take() {
  const std::size_t here = hosts().here().size();
  for (std::size_t host = 0; host < hosts().count(); ++host) {
    if (host != hosts().host) check_mark(mark_of(host, coming_from(host)), host);
    const std::byte* const from = coming_from(host);
    std::size_t sender = 0;
    for (const Rank rank : hosts().ranks[host])
      std::memcpy(receive_->data() + rank * received_,
                  from + AggregateLayout::block(sender++, hosts().local, here) * sent_, std::min(sent_, received_));
  }
  receive_->unpack(0);
}

void TwoLevelGather::put() {
  const std::size_t own = hosts().here()[hosts().local];
  receive_.emplace(call_.contributions(hosts().together), call_.comm);
  const std::size_t contributed = receive_->contribute(own, call_.sendbuf, call_.sendcount, call_.sendtype);
  const std::vector<Span>& blocks = receive_->blocks();
  if (contributed > blocks[own].length) differs({hosts().here()[hosts().local], contributed, blocks[own].length});
  layout_.emplace(hosts(), [&](Rank rank) { return blocks[rank].length; }, mark_bytes());
  give(layout_->memory - hosts().count() * mark_bytes(), layout_->of_rank);
  std::memcpy(area() + layout_->of_rank[own], blocks[own].at, blocks[own].length);
}

Traffic TwoLevelGather::traffic() {
  std::vector<Span> blocks(hosts().together);
  for (std::size_t host = 0; host < hosts().count(); ++host) {
    const auto& [begin, bytes] = layout_->of_host[host];
    blocks[hosts().leader(host)] = {area() + begin, bytes};
  }
  return all_gather_traffic(planned(), blocks, exchange().rank());
}

void TwoLevelGather::carry(MPI_Comm leaders, MPI_Request* request) {
  put_mark(mark_of(hosts().host));
  counts_.clear(), places_.clear();
  for (const std::size_t host : hosts().by_leader) {
    counts_.push_back(static_cast<int>(layout_->of_host[host].bytes));
    places_.push_back(static_cast<int>(layout_->of_host[host].begin));
  }
  if (std::ranges::count(counts_, counts_[0]) == std::ssize(counts_))
    check(PMPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, area(), counts_[0], MPI_BYTE, leaders, request));
  else
    check(PMPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, area(), counts_.data(), places_.data(), MPI_BYTE, leaders,
                           request));
}

std::byte* TwoLevelGather::mark_of(std::size_t host) const {
  const auto& [begin, bytes] = layout_->of_host[host];
  return area() + begin + bytes - mark_bytes();
}

void TwoLevelGather::take() {
  for (std::size_t host = 0; host < hosts().count(); ++host)
    if (host != hosts().host) check_mark(mark_of(host), host);
  const std::size_t own = hosts().here()[hosts().local];
  const std::vector<Span>& blocks = receive_->blocks();
  const std::byte* const memory = area();
  for (std::size_t rank = 0; rank < blocks.size(); ++rank)
    if (rank != own) std::memcpy(blocks[rank].at, memory + layout_->of_rank[rank], blocks[rank].length);
  receive_->finish();
}

TwoLevelReduce::TwoLevelReduce(const Exchange& exchange, const AllReduceCall& call)
    : TwoLevelOperation(exchange),
      call_(call),
      reduction_(call.op, call.type),
      buffers_(call.buffers(exchange.rank(), hosts().together)),
      sums_(static_cast<std::uint64_t>(
                std::accumulate(buffers_.elements.begin(), buffers_.elements.end(), std::int64_t{0})),
            reduction_.element()) {}

void TwoLevelReduce::put() {
  give(sums_.bytes());
  std::memcpy(vector_of(hosts().local), buffers_.from, sums_.bytes());
}

void TwoLevelReduce::work() {
  const std::size_t ranks = hosts().here().size(), begin = sums_.part(hosts().local, ranks);
  const std::size_t bytes = sums_.part(hosts().local + 1, ranks) - begin;
  std::byte* const sum = vector_of(ranks) + begin;
  std::memcpy(sum, vector_of(0) + begin, bytes);
  for (std::size_t local = 1; local < ranks; ++local) reduction_(vector_of(local) + begin, sum, bytes);
}

Traffic TwoLevelReduce::traffic() {
  std::vector<Span> blocks(hosts().together);
  std::byte* const sum = vector_of(hosts().here().size());
  for (std::size_t host = 0; host < hosts().count(); ++host) {
    const std::size_t begin = sums_.part(host, hosts().count());
    blocks[hosts().leader(host)] = {sum + begin, sums_.part(host + 1, hosts().count()) - begin};
  }
  return reduction_traffic(planned(), blocks, reduction_.element(), reduction_);
}

void TwoLevelReduce::carry(MPI_Comm leaders, MPI_Request* request) {
  check(PMPI_Iallreduce(MPI_IN_PLACE, vector_of(hosts().here().size()), static_cast<int>(sums_.count), call_.type,
                        call_.op, leaders, request));
}

void TwoLevelReduce::take() { std::memcpy(buffers_.in, vector_of(hosts().here().size()), sums_.bytes()); }

}  // namespace hocket::runtime
