/// "nested-shifts": shifts of hosts, leaves and pods, one within the other.
#include "core/algorithms/all_to_all/nested_form.hpp"
#include "core/algorithms/all_to_all/nested_shifts.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/serves.hpp"
#include "core/algorithms/shared/written_out.hpp"
#include "core/limits.hpp"
#include "core/schedule/bounds.hpp"

namespace hocket::algorithms {

static std::string_view nested_shifts_why_not(const Network& network, const Demand& demand) {
  const std::string_view reason = common_why_not(network, demand);
  return reason.empty() ? NestedShifts::why_not(network) : reason;
}

static Schedule make_nested_shifts(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  return written_out(*NestedShifts::make(network), demand);
}

/// Compares with the bound, since each place of a subtree takes a phase, with and without a rank.
static bool nested_shifts_are_far(const Network& network, const Demand&, const Bounds& bounds) {
  return !limits::is_near(network.ranks(), NestedShifts::make(network)->phases(), bounds.phases);
}

static FoundForm nested_form(const Network& network, const Demand& demand, bool near) {
  if (network.fat_tree() == nullptr) return {};
  std::unique_ptr<NestedShifts> shifts = NestedShifts::make(network);
  if (shifts == nullptr) return {nullptr, {}, NestedShifts::why_not(network)};
  if (near && !limits::is_near(network.ranks(), shifts->phases(), lower_bounds(network, demand).phases))
    return {nullptr, {}, "nested shifts are far from the bound"};
  return {std::make_unique<closed_forms::NestedForm>(network, std::move(shifts))};
}

constinit const Algorithm nested_shifts{
    .pattern = Pattern::all_to_all,
    .name = "nested-shifts",
    .summary = "shifts of hosts, leaves and pods of a fat tree, one within the other; of parts, and oversubscribed",
    .source = "own; after Zahavi",
    .contention_free = true,
    .ports = PortModel::one_port,
    .why_not = nested_shifts_why_not,
    .make = make_nested_shifts,
    .rank = 4,
    .is_far = nested_shifts_are_far,
    .form = nested_form,
};

}  // namespace hocket::algorithms
