#include "runtime/agreement/changed_ways.hpp"

#include <algorithm>
#include <array>

#include "core/network/alternatives.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/mpi/world.hpp"
#include "runtime/paths/first_of_host.h"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {
namespace {

/// The ways of this process, for calls of several threads.
class Ways {
 public:
  static Ways& instance() {
    static Ways ways;
    return ways;
  }

  /// Calls `of` with them, while nobody else does.
  template <class Of>
  auto with(Of of) {
    const std::lock_guard lock(mutex_);
    return of(ways_);
  }

 private:
  Ways() : ways_(is_first_of_host() ? settings().paths_table : "") {
    const SeenWays& seen = ways_.seen();
    if (settings().log > 0 && seen.asked > 0 && launched_rank() == 0)
      say("paths found " + seen.found + ": of " + std::to_string(seen.asked) + " connections of this host " +
          std::to_string(seen.changed.size()) + " take another way now, of " +
          std::to_string(seen.asked - seen.answered) + " no router told");
  }

  std::mutex mutex_;
  OwnWays ways_;
};

/// The changes that the ranks have seen, rank after rank.
std::vector<ChangedWay> gathered(MPI_Comm comm, const std::vector<ChangedWay>& own) {
  struct Told {
    std::uint32_t count = 0;
    std::array<ChangedWay, SeenWays::most_asked> ways{};
  };
  Told mine;
  mine.count = static_cast<std::uint32_t>(own.size());
  std::ranges::copy(own, mine.ways.begin());
  std::vector<Told> told(static_cast<std::size_t>(size_of(comm)));
  gather_all(&mine, told.data(), sizeof mine, comm);
  std::vector<ChangedWay> all;
  for (const Told& one : told) all.insert(all.end(), one.ways.begin(), one.ways.begin() + one.count);
  return all;
}

}  // namespace

void look_at_ways() { (void)Ways::instance(); }

OwnView own_view() {
  return Ways::instance().with([](const OwnWays& own) {
    return OwnView{own.seen().changed.size(), own.seen().number, own.can_glance() ? 1U : 0U};
  });
}

AgreedWays::AgreedWays(MPI_Comm comm, std::uint64_t number, bool any_changed, bool any_may_glance)
    : number_(number), next_(any_may_glance ? 1 : never) {
  if (any_changed)
    changed_ = gathered(comm, Ways::instance().with([](const OwnWays& own) { return own.seen().changed; }));
}

std::optional<std::vector<ChangedWay>> AgreedWays::ask(MPI_Comm comm) {
  const bool is_first = agree_seconds_ == 0;
  if (is_first) agree_seconds_ = measure_agreement(comm);
  const bool is_new = Ways::instance().with([&](OwnWays& own) { return own.glance() || own.seen().number != number_; });
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> took = now - std::exchange(asked_, now);
  std::array own{is_new ? 1.0 : 0.0, took.count()}, all{0.0, 0.0};
  reduce(own.data(), all.data(), 2, MPI_DOUBLE, MPI_MAX, comm);
  // As many calls as take long enough, if they take what the last ones did; these may have been short by chance. All
  // ranks find the same number, or one would wait alone: they count the same calls, and measure_agreement() gives all
  // the largest of their times, as does the reduction above. A largest value is rounded nowhere.
  const auto calls = static_cast<double>(std::exchange(calls_, 0));
  const double wanted = is_first ? 1 : calls * agree_seconds_ / (timing_share * all[1]);
  next_ = static_cast<std::uint64_t>(std::clamp(wanted, 1.0, 2 * std::max(calls, 1.0)));
  if (all[0] == 0) return std::nullopt;
  Requests::instance().post_remaining();  // looking takes time
  const SeenWays seen = Ways::instance().with([&](OwnWays& own) {
    own.look_again();
    return own.seen();
  });
  number_ = seen.number;
  std::vector<ChangedWay> changed = gathered(comm, seen.changed);
  if (changed == changed_) return std::nullopt;
  return changed;
}

std::optional<Network> AgreedWays::network(MPI_Comm comm, const Network& found) const {
  std::optional<Network> seen;
  std::string problem;
  try_local(problem, [&] { seen = rerouted(found, routes_of(settings().paths_table, changed_)); });
  const std::string consequence = "plans keep to the ways that they are for";
  if (!all_ok(comm, problem, consequence)) return std::nullopt;
  const ChangedWay& first = changed_.front();
  warn(comm, 0,
       std::to_string(changed_.size()) + " connections take other ways than were found (" + found.name(first.from) +
           " to " + found.name(first.to) + ": by " + found.name(first.by) +
           "); plans are made anew on the ways that are left. 'hocket network discover --paths' finds better ones");
  return seen;
}

}  // namespace hocket::runtime
