#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/progress/waiting.hpp"
#include "sort/core/elements/move.hpp"
#include "sort/core/elements/partition.hpp"
#include "sort/mpi/exchange/deliver.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/permute/permute.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"

namespace hocket::sort {
namespace {

constexpr std::size_t grouped_slot = 0;  ///< slot for HostSharedContext::block()
constexpr std::uint64_t none = UINT64_MAX;

/// Positions from `begin` to `end`.
struct Interval {
  std::uint64_t begin, end;
};

/// All intervals that runs cover of this rank's part, in ascending order.
std::vector<Interval> covered(HostSharedContext& place, std::span<const Run> runs, const Layout& target) {
  BlockCounts sends;
  std::vector<Interval> out, in;
  collective_try(place, [&] {
    for (const std::vector<Run>& part : by_target(runs, target)) {
      sends.push_back(part.size());
      for (const Run& run : part) out.push_back({run.to, run.to + run.count});
    }
  });
  const BlockCounts receives = exchange_counts(place, sends);
  collective_try(place, [&] { in.resize(total_of(receives)); });
  exchange_blocks(place, sizeof(Interval), reinterpret_cast<const std::byte*>(out.data()), sends,
                  reinterpret_cast<std::byte*>(in.data()), receives);
  std::ranges::sort(in, {}, &Interval::begin);
  return in;
}

}  // namespace

void check_runs(HostSharedContext& place, std::span<const Run> runs, const Layout& target) {
  collective_try(place, [&] {
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (runs[i].to > target.total() || runs[i].count > target.total() - runs[i].to)
        throw InputError("run " + std::to_string(i) + " of " + std::to_string(runs[i].count) +
                         " elements from destination " + std::to_string(static_cast<std::int64_t>(runs[i].to)) +
                         " on is out of range: the target has " + std::to_string(target.total()) + " elements");
  });
  std::uint64_t own = none, end = target.begin(place.rank());
  for (const Interval& interval : covered(place, runs, target)) {
    if (interval.begin < end) own = std::min(own, interval.begin);
    end = std::max(end, interval.end);
  }
  std::uint64_t repeated = none;
  reduce(&own, &repeated, 1, MPI_UINT64_T, MPI_MIN, place.comm());
  if (repeated != none)
    throw ApiError{HOCKET_ERR_ARGUMENT, "destination " + std::to_string(repeated) + " is repeated: two runs cover it"};
}

void grouped_permute(HostSharedContext& place, std::size_t width, std::span<const Run> runs, const std::byte* source,
                     const Layout& target, std::byte* own) {
  const std::size_t bytes = runs.empty() ? 0 : (runs.back().from + runs.back().count) * width;
  const SharedBlock& block = place.block(grouped_slot, bytes);
  hocket::copy(source, block.part(place.host_rank()), bytes);
  deliver(place, block, width, runs, target, own);
}

namespace {

constexpr std::size_t relation_slot = 0;  ///< slot for HostSharedContext::block()

Arrived allocate(std::size_t bytes) {
  Arrived memory(static_cast<std::byte*>(std::malloc(std::max<std::size_t>(bytes, 1))));
  if (!memory) throw std::bad_alloc();
  return memory;
}

void divide_by_rank(std::size_t width, const std::byte* source, std::span<const std::uint16_t> ranks,
                    const BlockCounts& sends, std::byte* to) {
  std::vector<std::byte*> at = block_begins(to, sends, width);
  partition(width, source, ranks.size(), ranks, at);
}

}  // namespace

void FreeMemory::operator()(std::byte* memory) const { std::free(memory); }

std::vector<std::uint16_t> check_ranks(HostSharedContext& place, std::span<const int> ranks) {
  std::vector<std::uint16_t> checked;
  collective_try(place, [&] {
    if (place.size() > std::numeric_limits<std::uint16_t>::max())
      throw InputError("elements can be sent between at most 65,535 ranks");
    checked.resize(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i] < 0 || ranks[i] >= place.size())
        throw InputError("rank " + std::to_string(ranks[i]) + " of element " + std::to_string(i) +
                         " is out of range: there are " + std::to_string(place.size()) + " ranks");
      checked[i] = static_cast<std::uint16_t>(ranks[i]);
    }
  });
  return checked;
}

Arrived send_elements(HostSharedContext& place, bool chained, std::size_t width, const std::byte* source,
                      std::span<const std::uint16_t> ranks, std::uint64_t& arrived) {
  BlockCounts sends(static_cast<std::size_t>(place.size()), 0);
  for (const std::uint16_t rank : ranks) ++sends[rank];
  const BlockCounts receives = exchange_counts(place, sends);
  arrived = total_of(receives);
  Arrived target;
  PrivateMemory packed;
  collective_try(place, [&] {
    target = allocate(arrived * width);
    if (chained) return;
    packed = PrivateMemory(ranks.size() * width);
    divide_by_rank(width, source, ranks, sends, packed.data());
  });
  if (!chained) {
    exchange_blocks(place, width, packed.data(), sends, target.get(), receives);
    return target;
  }
  const Layout layout = Layout::gather(place.comm(), arrived);
  const std::vector<Run> runs = runs_of(sends, positions_at_targets(place, receives, layout));
  const SharedBlock& block = place.block(relation_slot, ranks.size() * width);
  divide_by_rank(width, source, ranks, sends, block.part(place.host_rank()));
  deliver(place, block, width, runs, layout, target.get());
  return target;
}

}  // namespace hocket::sort
