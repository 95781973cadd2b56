#pragma once
/// The radix sort of Stricker and Hardwick (From AAPC to random permuters and sorters, SPAA 1996).
#include <span>

#include "sort_task.hpp"
#include "steps.hpp"
#include "workplace.hpp"

namespace hocket::runtime {

/// Collective. Stable by the digits, least significant first. For each digit: bucket counts, transpose, scan,
/// untranspose, presort copy, grouped permute; after each the elements are spread evenly, after the last as `target`
/// says (as it falls: evenly).
[[nodiscard]] SortedRecords radix_sort(Workplace& place, SortTask task, std::span<const Digit> digits,
                                       StepClock& clock);

/// Elements for which a rank needs room, at most.
[[nodiscard]] std::uint64_t radix_room(int rank, const Layout& source, const std::optional<Layout>& target);

/// How many steps it will report.
[[nodiscard]] int radix_step_count(const Workplace& place, std::span<const Digit> digits);

}  // namespace hocket::runtime
