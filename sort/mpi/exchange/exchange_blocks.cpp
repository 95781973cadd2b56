#include "sort/mpi/exchange/exchange_blocks.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>
#include <utility>

#include "runtime/beside/beside.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/waiting.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"

namespace hocket::sort {
namespace {

/// Counts and displacements of one MPI_Alltoallv.
struct Side {
  std::vector<int> counts, begins;

  explicit Side(const BlockCounts& blocks) : counts(blocks.begin(), blocks.end()), begins(blocks.size()) {
    std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
  }
};

constexpr int block_tag = 1;          ///< 0: chunk_exchange.cpp
constexpr int partners_at_once = 16;  ///< messages under way in each direction

/// Replaces MPI_Ialltoallv, of which MPICH 5 moves only 16 KiB per test, which is slow for a rank that sleeps between
/// tests. MPICH sends single messages in one copy.
void exchange_pairwise(HostSharedContext& place, MPI_Datatype type, const std::byte* from, const Side& out,
                       std::byte* to, const Side& in) {
  MPI_Aint lower = 0, width = 0;
  check(PMPI_Type_get_extent(type, &lower, &width));
  const auto at = [&](auto* memory, const Side& side, std::size_t rank) { return memory + side.begins[rank] * width; };
  const auto own = static_cast<std::size_t>(place.rank()), size = static_cast<std::size_t>(place.size());
  if (out.counts[own] > 0)
    std::memcpy(at(to, in, own), at(from, out, own), static_cast<std::size_t>(out.counts[own] * width));
  std::vector<MPI_Request> requests;
  for (std::size_t step = 1; step < size; ++step) {
    const std::size_t source = (own + size - step) % size, target = (own + step) % size;
    if (in.counts[source] > 0)
      check(PMPI_Irecv(at(to, in, source), in.counts[source], type, static_cast<int>(source), block_tag, place.comm(),
                       &requests.emplace_back(MPI_REQUEST_NULL)));
    if (out.counts[target] > 0)
      check(PMPI_Isend(at(from, out, target), out.counts[target], type, static_cast<int>(target), block_tag,
                       place.comm(), &requests.emplace_back(MPI_REQUEST_NULL)));
    if (step % partners_at_once != 0 && step + 1 < size) continue;
    int done = 0;
    check(until(done, [&] {
      return PMPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    }));
    requests.clear();
  }
}

void exchange_small(HostSharedContext& place, MPI_Datatype type, const std::byte* from, const BlockCounts& sends,
                    std::byte* to, const BlockCounts& receives) {
  const Side out(sends), in(receives);
  if (!place.could_collide()) return exchange_pairwise(place, type, from, out, to, in);
  check(hocket_alltoallv(from, out.counts.data(), out.begins.data(), type, to, in.counts.data(), in.begins.data(), type,
                         place.comm()));
}

/// The size of each block's part from `begin` on, at most `most` elements.
BlockCounts part(const BlockCounts& blocks, std::uint64_t begin, std::uint64_t most) {
  BlockCounts parts;
  for (const std::uint64_t block : blocks) parts.push_back(std::min(most, block - std::min(block, begin)));
  return parts;
}

/// Calls `move(element of all blocks, element of all parts, count)` for every part.
template <class Move>
void for_each_part(const BlockCounts& blocks, const BlockCounts& parts, std::uint64_t begin, Move move) {
  std::uint64_t whole = 0, packed = 0;
  for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
    if (parts[rank] > 0) move(whole + begin, packed, parts[rank]);
    whole += blocks[rank];
    packed += parts[rank];
  }
}

/// MPI counts in `int`: what is larger goes in rounds through buffers of about this many bytes.
constexpr std::uint64_t round_bytes = std::uint64_t{1} << 28;

/// `most` elements per pair of ranks and round.
void exchange_in_rounds(HostSharedContext& place, MPI_Datatype type, std::size_t width, const std::byte* from,
                        const BlockCounts& sends, std::byte* to, const BlockCounts& receives, std::uint64_t rounds,
                        std::uint64_t most) {
  PrivateMemory packed, arrived;
  collective_try(place, [&] {  // no round moves more than the first
    packed = PrivateMemory(total_of(part(sends, 0, most)) * width);
    arrived = PrivateMemory(total_of(part(receives, 0, most)) * width);
  });
  for (std::uint64_t begin = 0; begin < rounds * most; begin += most) {
    const BlockCounts out = part(sends, begin, most), in = part(receives, begin, most);
    for_each_part(sends, out, begin, [&](std::uint64_t whole, std::uint64_t at, std::uint64_t count) {
      std::memcpy(packed.data() + at * width, from + whole * width, count * width);
    });
    exchange_small(place, type, packed.data(), out, arrived.data(), in);
    for_each_part(receives, in, begin, [&](std::uint64_t whole, std::uint64_t at, std::uint64_t count) {
      std::memcpy(to + whole * width, arrived.data() + at * width, count * width);
    });
  }
}

}  // namespace

std::uint64_t total_of(const BlockCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

BlockCounts exchange_counts(HostSharedContext& place, const BlockCounts& sends) {
  BlockCounts receives(sends.size());
  run_collective(PMPI_Ialltoall, sends.data(), 1, MPI_UINT64_T, receives.data(), 1, MPI_UINT64_T, place.comm());
  return receives;
}

void exchange_blocks(HostSharedContext& place, std::size_t width, const std::byte* from, const BlockCounts& sends,
                     std::byte* to, const BlockCounts& receives) {
  const std::uint64_t own[2] = {std::max(total_of(sends), total_of(receives)),
                                sends.empty() ? 0 : *std::ranges::max_element(sends)};
  std::uint64_t all[2] = {};
  reduce(own, all, 2, MPI_UINT64_T, MPI_MAX, place.comm());
  if (all[0] == 0) return;
  const MadeType element = bytes_type(width);
  if (all[0] <= INT_MAX) return exchange_small(place, element.get(), from, sends, to, receives);
  const std::uint64_t most = std::max<std::uint64_t>(1, round_bytes / width / static_cast<std::uint64_t>(place.size()));
  exchange_in_rounds(place, element.get(), width, from, sends, to, receives, (all[1] + most - 1) / most, most);
}

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
