#include "sort/mpi/exchange/exchange_blocks.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>

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

}  // namespace hocket::sort
