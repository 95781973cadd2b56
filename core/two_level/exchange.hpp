#pragma once
/// Exchanges in two levels: the ranks of a host put what they have into its memory, the leaders carry it between hosts
/// by a schedule, and every rank takes what is its own.
///
/// This is what the runtime's aggregates do (runtime/two_level/), copy by copy: what the verifier proves of it is what
/// runs.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/model/memory_profile.hpp"
#include "core/model/simulate.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/waits.hpp"
#include "core/two_level/layout.hpp"

namespace hocket {

/// A rank's copy between its buffers and the memory of its host. `piece` names the bytes: of a message, of a
/// contribution (target: everyone), or of a rank's vector in a reduction (origin: whose, target: everyone).
struct LocalCopy {
  Rank rank = 0;
  std::uint64_t at = 0;  ///< offset in the memory of the rank's host
  Piece piece;
  bool operator==(const LocalCopy&) const = default;
};

/// A part of the vector that a rank adds up for its host: `length` bytes each from `from`, into `to`.
struct LocalSum {
  Rank rank = 0;
  std::uint64_t to = 0, length = 0;
  std::vector<std::uint64_t> from;
  bool operator==(const LocalSum&) const = default;
};

/// One range of bytes that a message moves from the memory of one host into that of another.
struct Carry {
  std::uint64_t from = 0, to = 0, length = 0;
  bool operator==(const Carry&) const = default;
};

struct TwoLevelExchange {
  Demand demand;                      ///< between ranks
  HostGroups groups;                  ///< the ranks by host
  std::vector<std::uint64_t> memory;  ///< bytes of each host
  std::vector<LocalCopy> puts;
  std::vector<LocalSum> sums;                 ///< reductions
  Demand between;                             ///< between hosts, one rank each
  Schedule schedule{0, 0};                    ///< schedule of `between`
  std::vector<std::uint64_t> carry_begin{0};  ///< transfer i moves [carry_begin[i], carry_begin[i + 1]) of `carries`
  std::vector<Carry> carries;
  std::vector<LocalCopy> takes;

  [[nodiscard]] std::span<const Carry> of_transfer(std::uint64_t transfer) const {
    return {carries.data() + carry_begin[transfer], carries.data() + carry_begin[transfer + 1]};
  }
};

/// Empty if exchanges of this demand can be made in two levels, else the reason why not.
[[nodiscard]] std::string_view why_not_two_level(const HostGroups& groups, const Demand& demand);

/// The demand between hosts, summed over their ranks: irregular where two-level messages differ in size. An
/// all-reduce's vector is cut into a block for each host. Throws InputError if the demand has no two-level form.
[[nodiscard]] Demand demand_between(const HostGroups& groups, const Demand& demand);

/// The demand for which a schedule is made: for an all-to-all always an equal all-to-all, even if hosts differ in
/// ranks, as the order of its messages does not depend on sizes; otherwise demand_between().
[[nodiscard]] Demand scheduled_between(const HostGroups& groups, const Demand& demand);

/// `schedule`: of demand_between() or scheduled_between(); of direct messages each takes the bytes of its aggregate.
/// What a host passes on lies behind its own aggregates. Throws InputError for what does not fit.
[[nodiscard]] TwoLevelExchange aggregate(HostGroups groups, Demand demand, const Schedule& schedule);

/// Seconds.
struct TwoLevelTime {
  double put = 0;      ///< until all ranks of the slowest host have put in what they have, and added it up
  double between = 0;  ///< the schedule, simulated
  double take = 0;     ///< until the slowest rank has taken what is its own
  [[nodiscard]] double seconds() const { return put + between + take; }
};

/// Copies cost what runs of their length cost in shared memory (Work::pull), with as many ranks at it as there are,
/// each on a core: ranks beyond the cores of `memory` count as so many. Ranks of a host meet twice. `costs` are those
/// of the messages of leaders; of `waits` is the window. None if the simulation takes more than `steps`.
[[nodiscard]] std::optional<TwoLevelTime> two_level_seconds(const Network& between, const TwoLevelExchange& exchange,
                                                            const Waits& waits, const ModelParameters& costs,
                                                            const MemoryProfile& memory, std::uint64_t steps);

}  // namespace hocket
