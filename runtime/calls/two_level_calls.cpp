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
  const PlacedBlocks send =
      packed(in_place ? call_.recvbuf : call_.sendbuf, size * (in_place ? call_.recvcount : call_.sendcount),
             in_place ? call_.recvtype : call_.sendtype, call_.comm);
  receive_.emplace(std::vector{block_of(call_.recvbuf, size * call_.recvcount, call_.recvtype)}, call_.comm);
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
  if (hosts().equal())
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
  receive_->unpack(0);
}

void TwoLevelGather::put() {
  const std::size_t own = hosts().here()[hosts().local];
  receive_.emplace(call_.contributions(hosts().together), call_.comm);
  const std::size_t contributed = receive_->contribute(own, call_.sendbuf, call_.sendcount, call_.sendtype);
  const std::vector<Span>& blocks = receive_->blocks();
  if (contributed > blocks[own].length) differs({hosts().here()[hosts().local], contributed, blocks[own].length});
  std::vector<std::uint64_t> lengths;
  for (const Span& block : blocks) lengths.push_back(block.length);
  give(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}), lengths);
  at_.resize(blocks.size());
  of_host_.assign(blocks.size(), {});
  std::byte* at = area();
  for (const std::size_t host : hosts_by_leader()) {
    const std::vector<Rank>& ranks = hosts().ranks[host];
    Span& together = of_host_[ranks.front()] = {at, 0};
    for (const Rank rank : ranks) {
      at_[rank] = at;
      at += blocks[rank].length;
      together.length += blocks[rank].length;
    }
    at += mark_bytes();
    together.length += mark_bytes();
  }
  std::memcpy(at_[own], blocks[own].at, blocks[own].length);
}

Traffic TwoLevelGather::traffic() { return all_gather_traffic(planned(), of_host_, exchange().rank()); }

void TwoLevelGather::carry(MPI_Comm leaders, MPI_Request* request) {
  put_mark(mark_of(hosts().host));
  counts_.clear(), places_.clear();
  for (const std::size_t host : hosts_by_leader()) {
    const Span& together = of_host_[hosts().ranks[host].front()];
    counts_.push_back(static_cast<int>(together.length));
    places_.push_back(static_cast<int>(together.at - area()));
  }
  if (std::ranges::count(counts_, counts_[0]) == std::ssize(counts_))
    check(PMPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, area(), counts_[0], MPI_BYTE, leaders, request));
  else
    check(PMPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, area(), counts_.data(), places_.data(), MPI_BYTE, leaders,
                           request));
}

std::byte* TwoLevelGather::mark_of(std::size_t host) const {
  const Span& together = of_host_[hosts().ranks[host].front()];
  return together.at + together.length - mark_bytes();
}

void TwoLevelGather::take() {
  for (std::size_t host = 0; host < hosts().count(); ++host)
    if (host != hosts().host) check_mark(mark_of(host), host);
  const std::size_t own = hosts().here()[hosts().local];
  for (std::size_t rank = 0; rank < at_.size(); ++rank)
    if (rank != own) std::memcpy(receive_->blocks()[rank].at, at_[rank], receive_->blocks()[rank].length);
  receive_->finish();
}

TwoLevelReduce::TwoLevelReduce(const Exchange& exchange, const AllReduceCall& call)
    : TwoLevelOperation(exchange),
      call_(call),
      reduction_(call.op, call.type),
      buffers_(call.buffers(exchange.rank(), hosts().together)) {
  count_ =
      static_cast<std::size_t>(std::accumulate(buffers_.elements.begin(), buffers_.elements.end(), std::int64_t{0}));
  sums_ = SumLayout(count_ * reduction_.element());
}

void TwoLevelReduce::put() {
  give(count_ * reduction_.element());
  std::memcpy(vector_of(hosts().local), buffers_.from, count_ * reduction_.element());
}

void TwoLevelReduce::work() {
  const std::size_t ranks = hosts().here().size(), element = reduction_.element();
  const std::size_t begin = part_begin(count_, hosts().local, ranks) * element;
  const std::size_t bytes = part_begin(count_, hosts().local + 1, ranks) * element - begin;
  std::byte* const sum = vector_of(ranks) + begin;
  std::memcpy(sum, vector_of(0) + begin, bytes);
  for (std::size_t local = 1; local < ranks; ++local) reduction_(vector_of(local) + begin, sum, bytes);
}

Traffic TwoLevelReduce::traffic() {
  const std::size_t element = reduction_.element();
  std::vector<Span> blocks(hosts().together);
  std::byte* const sum = vector_of(hosts().here().size());
  for (std::size_t host = 0; host < hosts().count(); ++host) {
    const std::size_t begin = part_begin(count_, host, hosts().count()),
                      end = part_begin(count_, host + 1, hosts().count());
    blocks[hosts().ranks[host].front()] = {sum + begin * element, (end - begin) * element};
  }
  return reduction_traffic(planned(), blocks, element, reduction_);
}

void TwoLevelReduce::carry(MPI_Comm leaders, MPI_Request* request) {
  check(PMPI_Iallreduce(MPI_IN_PLACE, vector_of(hosts().here().size()), static_cast<int>(count_), call_.type, call_.op,
                        leaders, request));
}

void TwoLevelReduce::take() {
  std::memcpy(buffers_.in, vector_of(hosts().here().size()), count_ * reduction_.element());
}

}  // namespace hocket::runtime
