#pragma once
/// The radix sort of Stricker and Hardwick (From AAPC to random permuters and sorters, SPAA 1996).
#include <optional>
#include <vector>

#include "sort/core/elements/digits.hpp"
#include "sort/mpi/costs/steps.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/sort/sort_task.hpp"

namespace hocket::sort {

/// Collective. Stable. For each digit: bucket counts, transpose, scan, untranspose, presort copy, grouped permute;
/// after each the elements are spread evenly, after the last as the task's target says (as it falls: evenly). By the
/// highest digit first it takes one such pass, a local sort and a last balance (highest_digit.hpp).
[[nodiscard]] SortedRecords radix_sort(HostSharedContext& place, SortTask task, const RadixDigits& digits,
                                       StepClock& clock);

/// Elements for which a rank needs room, at most.
[[nodiscard]] std::uint64_t radix_room(int rank, const Layout& source, const std::optional<Layout>& target);

/// The number of steps that the sort will report.
[[nodiscard]] int radix_step_count(const RadixDigits& digits);

}  // namespace hocket::sort
