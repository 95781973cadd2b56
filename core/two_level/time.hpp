#pragma once
/// Time of a two-level exchange.
#include <optional>

#include "core/model/memory_profile.hpp"
#include "core/model/simulate.hpp"
#include "core/schedule/waits.hpp"
#include "core/two_level/exchange.hpp"

namespace hocket {

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
