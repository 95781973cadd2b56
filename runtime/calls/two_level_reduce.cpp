#include "runtime/calls/two_level_reduce.hpp"

#include <cstring>
#include <numeric>

#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {

TwoLevelReduce::TwoLevelReduce(const Exchange& exchange, const AllReduceCall& call)
    : TwoLevelOperation(exchange),
      call_(call),
      reduction_(call.op, call.type),
      buffers_(call.buffers(exchange.rank(), hosts().together)) {
  count_ =
      static_cast<std::size_t>(std::accumulate(buffers_.elements.begin(), buffers_.elements.end(), std::int64_t{0}));
  constexpr std::size_t line = 64;
  stride_ = (count_ * reduction_.element() + line - 1) / line * line;
}

void TwoLevelReduce::put() {
  give(count_ * reduction_.element());
  std::memcpy(vector_of(hosts().local), buffers_.from, count_ * reduction_.element());
}

void TwoLevelReduce::work() {
  const std::size_t ranks = hosts().here().size(), element = reduction_.element();
  const std::size_t begin = count_ * hosts().local / ranks * element;
  const std::size_t bytes = count_ * (hosts().local + 1) / ranks * element - begin;
  std::byte* const sum = vector_of(ranks) + begin;
  std::memcpy(sum, vector_of(0) + begin, bytes);
  for (std::size_t local = 1; local < ranks; ++local) reduction_(vector_of(local) + begin, sum, bytes);
}

Traffic TwoLevelReduce::traffic() {
  const std::size_t element = reduction_.element(), hosts_in_all = hosts().count();
  std::vector<Span> blocks(hosts().together);
  std::byte* const sum = vector_of(hosts().here().size());
  for (std::size_t host = 0; host < hosts_in_all; ++host) {
    const std::size_t begin = count_ * host / hosts_in_all, end = count_ * (host + 1) / hosts_in_all;
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
