#include "runtime/calls/two_level_gather.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <numeric>

#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {

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

}  // namespace hocket::runtime
