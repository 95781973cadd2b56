#include "core/two_level/time.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace hocket {
namespace {

/// Copy time of the ranks, by the lengths of the runs that they copy; the slowest rank counts.
class Copying {
 public:
  Copying(const HostGroups& groups, const MemoryProfile& memory)
      : groups_(groups), memory_(memory), seconds_(groups.host_of.size(), 0), bytes_(groups.host_of.size(), 0) {}

  void reach(Rank rank, std::uint64_t bytes) { bytes_[rank] += bytes; }
  void add(Rank rank, std::uint64_t run, std::uint64_t times = 1) {
    seconds_[rank] += static_cast<double>(run * times) * per_byte(groups_.ranks[groups_.host_of[rank]].size(), run);
  }
  [[nodiscard]] double slowest() const { return *std::ranges::max_element(seconds_); }

 private:
  /// `run`: of bytes that lie together.
  double per_byte(std::size_t ranks, std::uint64_t run) {
    const auto [found, fresh] = known_.try_emplace({ranks, run}, 0);
    if (fresh) {
      const auto at_work = static_cast<std::uint32_t>(std::min<std::size_t>(ranks, memory_.cores()));
      const std::uint64_t reach = *std::ranges::max_element(bytes_);
      found->second =
          memory_.seconds(Work::pull, {at_work, 1, std::max<std::uint64_t>(run, 1), std::max<std::uint64_t>(reach, 1)});
    }
    return found->second;
  }

  const HostGroups& groups_;
  const MemoryProfile& memory_;
  std::vector<double> seconds_;
  std::vector<std::uint64_t> bytes_;  ///< per rank: bytes of memory that its copies reach
  std::map<std::pair<std::size_t, std::uint64_t>, double> known_;
};

double copying(const TwoLevelExchange& exchange, const std::vector<LocalCopy>& copies, const MemoryProfile& memory) {
  Copying work(exchange.groups, memory);
  for (const LocalCopy& copy : copies) work.reach(copy.rank, copy.piece.length);
  for (const LocalCopy& copy : copies) work.add(copy.rank, copy.piece.length);
  return work.slowest();
}

}  // namespace

std::optional<TwoLevelTime> two_level_seconds(const Network& between, const TwoLevelExchange& exchange,
                                              const Waits& waits, const ModelParameters& costs,
                                              const MemoryProfile& memory, std::uint64_t steps) {
  const FlowControl flow{FlowControl::Kind::window, waits.window};
  const std::optional<Simulation> carried = simulate_within(steps, between, exchange.schedule, &waits, flow, costs);
  if (!carried) return std::nullopt;
  const auto most = static_cast<std::uint32_t>(exchange.groups.most());
  const double meet = memory.seconds(Work::meet, {std::min(most, memory.cores()), 1, 1, 1});
  TwoLevelTime time;
  time.put = copying(exchange, exchange.puts, memory) + meet;
  time.between = carried->seconds;
  time.take = copying(exchange, exchange.takes, memory) + meet;
  if (!exchange.sums.empty()) {
    Copying adding(exchange.groups, memory);
    for (const LocalSum& sum : exchange.sums) adding.reach(sum.rank, sum.length * sum.from.size());
    for (const LocalSum& sum : exchange.sums) adding.add(sum.rank, sum.length, sum.from.size());
    time.put += adding.slowest() + meet;
  }
  return time;
}

}  // namespace hocket
