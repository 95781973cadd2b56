#include "sort/mpi/exchange/rebalance.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "sort/mpi/exchange/deliver.hpp"

namespace hocket::sort {
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
