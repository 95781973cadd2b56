#include "sort/mpi/exchange/deliver.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/mpi/mpi_call.hpp"
#include "sort/core/elements/move.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"

namespace hocket::sort {
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
