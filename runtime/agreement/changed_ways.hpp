#pragma once
/// Ways of connections that have changed since they were found, and the ranks' agreement on them.
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/network/network.hpp"
#include "runtime/paths/seen_ways.hpp"

namespace hocket::runtime {

/// Looks at the ways of this host's connections, if this process is the first of its host and there is a table of them.
/// Must precede all connections. Local.
void look_at_ways();

/// The ways that this rank has seen, as it tells others of them.
struct OwnView {
  std::uint64_t changed = 0;     ///< connections on other ways than were found
  std::uint64_t number = 0;      ///< SeenWays::number
  std::uint64_t may_glance = 0;  ///< 1: it can see changes while the program runs
};
[[nodiscard]] OwnView own_view();

/// The ways that the plans of one communicator are for. All that is not said to be local is the same on all ranks.
class AgreedWays {
 public:
  AgreedWays() = default;  ///< as they were found, for good
  /// `number`: of this rank's own view when the ranks told each other. `any_changed`, `any_may_glance`: of all ranks'
  /// views. Collective.
  AgreedWays(MPI_Comm comm, std::uint64_t number, bool any_changed, bool any_may_glance);

  /// False: all messages go as was found.
  [[nodiscard]] bool have_changed() const { return !changed_.empty(); }
  /// A schedule serves a blocking call.
  void serve() { ++calls_; }
  /// True if it is time to ask(): so seldom that it takes timing_share of the job's time.
  [[nodiscard]] bool is_time() const { return calls_ >= next_; }
  /// Asks all ranks whether they see messages go other ways than these. Where one does, all look again; the changes
  /// that all ranks together see, if they are others than these. Collective.
  [[nodiscard]] std::optional<std::vector<ChangedWay>> ask(MPI_Comm comm);
  /// Plans are for these changes now; returns those that they were for. Local.
  std::vector<ChangedWay> follow(std::vector<ChangedWay> changed) {
    return std::exchange(changed_, std::move(changed));
  }
  /// The network, in which messages go these ways; nothing, and a warning, where it cannot be planned for. There must
  /// be changes. Collective.
  [[nodiscard]] std::optional<Network> network(MPI_Comm comm, const Network& found) const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  std::vector<ChangedWay> changed_;
  std::uint64_t number_ = 0;                ///< of this rank's view that it has told
  std::uint64_t calls_ = 0, next_ = never;  ///< since the last time that they asked; until they ask again
  double agree_seconds_ = 0;                ///< 0: not measured yet
  Clock::time_point asked_;
};

}  // namespace hocket::runtime
