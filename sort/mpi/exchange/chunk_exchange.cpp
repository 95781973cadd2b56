#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/progress/waiting.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"

namespace hocket::sort {
namespace {

constexpr std::size_t most_chunk_bytes = std::size_t{1} << 18, least_chunk_bytes = std::size_t{1} << 12;
constexpr std::size_t memory_for_chunks = std::size_t{1} << 26;
constexpr int chunk_tag = 0;  // the shared context's communicator has no other messages between two ranks

}  // namespace

ChunkExchange::ChunkExchange(HostSharedContext& place, std::size_t width, const BlockCounts& sends,
                             const BlockCounts& receives, TakeIn take_in)
    : comm_(place.comm()), width_(width), outgoing_(sends.size()), take_in_(std::move(take_in)) {
  // The chunk size must be the same on all ranks, so that both sides of a message agree.
  const std::size_t partners = sends.size() * (in_flight + awaited);
  const std::size_t chunk_bytes = std::clamp(memory_for_chunks / partners, least_chunk_bytes, most_chunk_bytes);
  capacity_ = std::max<std::size_t>(1, chunk_bytes / bytes_of(1));
  for (std::size_t rank = 0; rank < sends.size(); ++rank)
    if (sends[rank] > 0) {
      outgoing_[rank].chunks.resize(in_flight);
      for (Chunk& chunk : outgoing_[rank].chunks) chunk.memory.resize(bytes_of(capacity_));
    }
  for (std::size_t rank = 0; rank < receives.size(); ++rank)
    if (receives[rank] > 0) incoming_.push_back({static_cast<int>(rank), receives[rank]});
  arriving_.resize(incoming_.size() * awaited);
  requests_.assign(arriving_.size(), MPI_REQUEST_NULL);
  indices_.resize(arriving_.size());
  for (Chunk& chunk : arriving_) chunk.memory.resize(bytes_of(capacity_));
}

void ChunkExchange::start() {
  for (std::size_t place_of = 0; place_of < arriving_.size(); ++place_of) await(place_of);
}

void ChunkExchange::await(std::size_t place) {
  Incoming& from = incoming_[place / awaited];
  Chunk& chunk = arriving_[place];
  chunk.elements = std::min<std::uint64_t>(from.left, capacity_);
  if (chunk.elements == 0) return;
  from.left -= chunk.elements;
  check(PMPI_Irecv(chunk.memory.data(), static_cast<int>(bytes_of(chunk.elements)), MPI_BYTE, from.rank, chunk_tag,
                   comm_, &requests_[place]));
}

void ChunkExchange::put(int rank, std::uint64_t offset, const std::byte* element) {
  Outgoing& to = outgoing_[static_cast<std::size_t>(rank)];
  Chunk& chunk = to.chunks[to.filling];
  std::memcpy(chunk.memory.data() + chunk.elements * sizeof offset, &offset, sizeof offset);
  std::memcpy(chunk.memory.data() + capacity_ * sizeof offset + chunk.elements * width_, element, width_);
  if (++chunk.elements == capacity_) send(rank);
}

void ChunkExchange::send(int rank) {
  Outgoing& to = outgoing_[static_cast<std::size_t>(rank)];
  Chunk& chunk = to.chunks[to.filling];
  if (chunk.elements < capacity_)
    std::memmove(chunk.memory.data() + chunk.elements * sizeof(std::uint64_t),
                 chunk.memory.data() + capacity_ * sizeof(std::uint64_t), chunk.elements * width_);
  check(PMPI_Isend(chunk.memory.data(), static_cast<int>(bytes_of(chunk.elements)), MPI_BYTE, rank, chunk_tag, comm_,
                   &chunk.request));
  to.filling = (to.filling + 1) % in_flight;
  Chunk& next = to.chunks[to.filling];
  wait_for([&] {
    const bool moved = advance();
    if (sent(next)) return Progress::over;
    return moved ? Progress::some : Progress::none;
  });
  next.elements = 0;
}

bool ChunkExchange::sent(Chunk& chunk) {
  int done = 0;
  check(PMPI_Test(&chunk.request, &done, MPI_STATUS_IGNORE));
  return done != 0;
}

bool ChunkExchange::advance() {
  int done = 0;
  const bool moved = move_active();
  check(
      PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &done, indices_.data(), MPI_STATUSES_IGNORE));
  if (done == MPI_UNDEFINED || done == 0) return moved;
  for (const int index : std::span(indices_).first(static_cast<std::size_t>(done))) {
    const Chunk& chunk = arriving_[static_cast<std::size_t>(index)];
    take_in_(chunk.memory.data() + chunk.elements * sizeof(std::uint64_t),
             {reinterpret_cast<const std::uint64_t*>(chunk.memory.data()), chunk.elements});
    await(static_cast<std::size_t>(index));
  }
  return true;
}

void ChunkExchange::finish() {
  for (std::size_t rank = 0; rank < outgoing_.size(); ++rank) {
    const Outgoing& to = outgoing_[rank];
    if (!to.chunks.empty() && to.chunks[to.filling].elements > 0) send(static_cast<int>(rank));
  }
  wait_for([&] {
    const bool moved = advance();
    bool over = std::ranges::all_of(requests_, [](MPI_Request request) { return request == MPI_REQUEST_NULL; });
    for (Outgoing& to : outgoing_)
      for (Chunk& chunk : to.chunks) over = sent(chunk) && over;
    if (over) return Progress::over;
    return moved ? Progress::some : Progress::none;
  });
}

}  // namespace hocket::sort
