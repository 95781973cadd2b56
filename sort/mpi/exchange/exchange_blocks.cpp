#include "sort/mpi/exchange/exchange_blocks.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/beside/beside.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/waiting.hpp"
#include "sort/core/elements/move.hpp"
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

constexpr int block_tag = 1;          ///< 0: ChunkExchange of permute_chained.cpp
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
  const MadeType element = run_of(width);
  if (all[0] <= INT_MAX) return exchange_small(place, element.get(), from, sends, to, receives);
  const std::uint64_t most = std::max<std::uint64_t>(1, round_bytes / width / static_cast<std::uint64_t>(place.size()));
  exchange_in_rounds(place, element.get(), width, from, sends, to, receives, (all[1] + most - 1) / most, most);
}

namespace {

constexpr std::size_t runs_slot = 15;  ///< slot for HostSharedContext::block(), beyond those of callers

/// The runs of a rank for every rank of its host, in shared memory: where each list begins, then the lists.
class SharedRuns {
 public:
  SharedRuns(HostSharedContext& place, const std::vector<std::vector<Run>>& parts) : place_(place) {
    const auto size = static_cast<std::size_t>(place.host_size());
    std::vector<std::uint64_t> begin(size + 1, 0);
    for (std::size_t member = 0; member < size; ++member) begin[member + 1] = begin[member] + of(parts, member).size();
    const std::size_t head = begin.size() * sizeof(std::uint64_t);
    block_ = &place.block(runs_slot, head + begin.back() * sizeof(Run));
    std::byte* const own = block_->part(place.host_rank());
    std::memcpy(own, begin.data(), head);
    for (std::size_t member = 0; member < size; ++member)
      if (const std::vector<Run>& part = of(parts, member); !part.empty())
        std::memcpy(own + head + begin[member] * sizeof(Run), part.data(), part.size() * sizeof(Run));
  }

  /// The runs that a rank of the host has for this one. Call this only after HostSharedContext::meet_host().
  [[nodiscard]] std::span<const Run> from(int host_rank) const {
    const std::byte* const part = block_->part(host_rank);
    const auto* const begin = reinterpret_cast<const std::uint64_t*>(part);
    const auto* const runs =
        reinterpret_cast<const Run*>(part + (static_cast<std::size_t>(place_.host_size()) + 1) * sizeof(std::uint64_t));
    const auto own = static_cast<std::size_t>(place_.host_rank());
    return {runs + begin[own], runs + begin[own + 1]};
  }

 private:
  [[nodiscard]] const std::vector<Run>& of(const std::vector<std::vector<Run>>& parts, std::size_t member) const {
    return parts[static_cast<std::size_t>(place_.members()[member])];
  }

  HostSharedContext& place_;
  const SharedBlock* block_ = nullptr;
};

std::uint64_t elements(const std::vector<Run>& runs) {
  std::uint64_t sum = 0;
  for (const Run& run : runs) sum += run.count;
  return sum;
}

/// Between hosts: positions first, then the elements in their order.
void exchange_with_other_hosts(HostSharedContext& place, const std::byte* source, std::size_t width,
                               std::vector<std::vector<Run>>& parts, std::uint64_t own_begin, std::byte* own) {
  for (const int member : place.members()) parts[static_cast<std::size_t>(member)].clear();
  BlockCounts run_counts, element_counts;
  for (const std::vector<Run>& part : parts) {
    run_counts.push_back(part.size());
    element_counts.push_back(elements(part));
  }
  const BlockCounts runs_in = exchange_counts(place, run_counts);
  const BlockCounts elements_in = exchange_counts(place, element_counts);
  std::vector<Run> sent_runs, received_runs;
  PrivateMemory packed, arrived;
  collective_try(place, [&] {
    for (const std::vector<Run>& part : parts) sent_runs.insert(sent_runs.end(), part.begin(), part.end());
    received_runs.resize(total_of(runs_in));
    packed = PrivateMemory(total_of(element_counts) * width);
    arrived = PrivateMemory(total_of(elements_in) * width);
  });
  exchange_blocks(place, sizeof(Run), reinterpret_cast<const std::byte*>(sent_runs.data()), run_counts,
                  reinterpret_cast<std::byte*>(received_runs.data()), runs_in);
  std::byte* to = packed.data();
  for (const Run& run : sent_runs) {
    std::memcpy(to, source + run.from * width, run.count * width);
    to += run.count * width;
  }
  exchange_blocks(place, width, packed.data(), element_counts, arrived.data(), elements_in);
  const std::byte* from = arrived.data();
  for (const Run& run : received_runs) {
    std::memcpy(own + (run.to - own_begin) * width, from, run.count * width);
    from += run.count * width;
  }
}

}  // namespace

std::vector<Run> runs_of(const BlockCounts& counts, const BlockCounts& positions) {
  std::vector<Run> runs;
  std::uint64_t from = 0;
  for (std::size_t block = 0; block < counts.size(); ++block) {
    if (counts[block] > 0) runs.push_back({from, counts[block], positions[block]});
    from += counts[block];
  }
  return runs;
}

BlockCounts positions_at_targets(HostSharedContext& place, const BlockCounts& receives, const Layout& target) {
  BlockCounts begins(receives.size());
  std::exclusive_scan(receives.begin(), receives.end(), begins.begin(), target.begin(place.rank()));
  return exchange_counts(place, begins);
}

std::vector<std::vector<Run>> by_target(std::span<const Run> runs, const Layout& target) {
  std::vector<std::vector<Run>> parts(static_cast<std::size_t>(target.ranks()));
  for (Run run : runs) {
    while (run.count > 0) {
      const int rank = target.rank_of(run.to);
      const std::uint64_t here = std::min(run.count, target.begin(rank + 1) - run.to);
      parts[static_cast<std::size_t>(rank)].push_back({run.from, here, run.to});
      run = {run.from + here, run.count - here, run.to + here};
    }
  }
  for (std::vector<Run>& part : parts)
    if (!std::ranges::is_sorted(part, {}, &Run::to)) std::ranges::sort(part, {}, &Run::to);
  return parts;
}

void deliver(HostSharedContext& place, const SharedBlock& source, std::size_t width, std::span<const Run> runs,
             const Layout& target, std::byte* own) {
  std::vector<std::vector<Run>> parts;
  collective_try(place, [&] { parts = by_target(runs, target); });
  const SharedRuns shared(place, parts);
  const std::uint64_t own_begin = target.begin(place.rank());
  place.meet_host();
  for (int i = 0; i < place.host_size(); ++i) {
    const int peer = place.in_turn(i);
    for (const Run& run : shared.from(peer))
      hocket::copy(source.part(peer) + run.from * width, own + (run.to - own_begin) * width, run.count * width);
  }
  if (!place.one_host()) exchange_with_other_hosts(place, source.part(place.host_rank()), width, parts, own_begin, own);
  place.meet_host();
}

namespace {

/// Positions from `begin` up to `end`; none if that is not behind it.
struct Positions {
  std::uint64_t begin, end;
  [[nodiscard]] std::uint64_t count() const { return end > begin ? end - begin : 0; }
};

}  // namespace

SortedPart::SortedPart(int rank, std::size_t width, const Layout& falls, const Layout& wanted)
    : rank_(rank),
      width_(width),
      falls_(falls),
      wanted_(wanted),
      first_(std::min(falls.begin(rank), wanted.begin(rank))) {
  // Parts that have nothing in common leave a gap, which is never touched.
  const std::uint64_t end = std::max(falls.begin(rank + 1), wanted.begin(rank + 1));
  memory_ = PrivateMemory((end - first_) * width);
}

PrivateMemory SortedPart::rebalance(HostSharedContext& place, std::size_t slot) && {
  if (falls_ != wanted_) {
    const std::uint64_t begin = falls_.begin(rank_), end = falls_.begin(rank_ + 1);
    const std::array leaving{Positions{begin, std::min(end, wanted_.begin(rank_))},
                             Positions{std::max(begin, wanted_.begin(rank_ + 1)), end}};
    const SharedBlock& block = place.block(slot, (leaving[0].count() + leaving[1].count()) * width_);
    std::vector<Run> runs;
    std::uint64_t from = 0;
    for (const Positions& part : leaving) {
      if (part.count() == 0) continue;
      std::memcpy(block.part(place.host_rank()) + from * width_, memory_.data() + (part.begin - first_) * width_,
                  part.count() * width_);
      runs.push_back({from, part.count(), part.begin});
      from += part.count();
    }
    deliver(place, block, width_, runs, wanted_, memory_.data() + (wanted_.begin(rank_) - first_) * width_);
  }
  memory_.drop_front((wanted_.begin(rank_) - first_) * width_);
  return std::move(memory_);
}

}  // namespace hocket::sort
