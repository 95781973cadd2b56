#include "sort/mpi/permute/grouped_permute.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/progress/agree.hpp"
#include "sort/core/elements/move.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/place/collective_try.hpp"

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
    std::vector<std::vector<Interval>> by_rank(static_cast<std::size_t>(place.size()));
    for (const Run& run : runs) {
      for (std::uint64_t at = run.to; at < run.to + run.count;) {
        const int rank = target.rank_of(at);
        const std::uint64_t end = std::min(run.to + run.count, target.begin(rank + 1));
        by_rank[static_cast<std::size_t>(rank)].push_back({at, end});
        at = end;
      }
    }
    for (const std::vector<Interval>& intervals : by_rank) {
      sends.push_back(intervals.size());
      out.insert(out.end(), intervals.begin(), intervals.end());
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

}  // namespace hocket::sort
