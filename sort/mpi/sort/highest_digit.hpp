#pragma once
/// Sorting by the highest digit first: one pass through the network, and the rest within each rank.
#include <optional>

#include "sort/mpi/costs/steps.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/sort/sort_task.hpp"

namespace hocket::sort {

/// Collective. The six steps of the radix sort for this one digit, after which every rank has whole buckets, so that
/// it can sort each by itself, in its caches; then what is on the wrong rank is exchanged. Stable. `digit`: the highest
/// bits in which keys differ.
///
/// Nothing, on all ranks alike, if the buckets would leave one rank with far more than its part; the task is as it was
/// then.
[[nodiscard]] std::optional<SortedRecords> sort_by_highest_digit(HostSharedContext& place, SortTask& task, Digit digit,
                                                                 StepClock& clock);

/// The number of steps reported if it completes, and if it gives up.
inline constexpr int highest_digit_steps = 8, highest_digit_steps_before = 4;

}  // namespace hocket::sort
