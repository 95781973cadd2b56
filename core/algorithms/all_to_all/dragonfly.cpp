/// "dragonfly": all groups of a full dragonfly at once.
#include "core/algorithms/all_to_all/dragonfly_form.hpp"
#include "core/algorithms/all_to_all/dragonfly_phases.hpp"
#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/serves.hpp"
#include "core/algorithms/shared/written_out.hpp"
#include "core/limits.hpp"
#include "core/schedule/bounds.hpp"

namespace hocket::algorithms {

static std::string_view dragonfly_why_not(const Network& network, const Demand& demand) {
  const std::string_view reason = common_why_not(network, demand);
  return reason.empty() ? DragonflyPhases::why_not(network) : reason;
}

static Schedule make_dragonfly(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  return written_out(DragonflyPhases(network), demand);
}

/// Compares with the bound, since some messages take turns.
static bool dragonfly_is_far(const Network& network, const Demand&, const Bounds& bounds) {
  return !limits::is_near(network.ranks(), DragonflyPhases(network).phases(), bounds.phases);
}

static FoundForm dragonfly_form(const Network& network, const Demand& demand, bool near) {
  if (network.dragonfly() == nullptr) return {};
  if (const std::string_view reason = DragonflyPhases::why_not(network); !reason.empty()) return {nullptr, {}, reason};
  auto form = std::make_unique<closed_forms::DragonflyForm>(network);
  if (near && !limits::is_near(network.ranks(), form->phases(), lower_bounds(network, demand).phases))
    return {nullptr, {}, "the dragonfly's groups are so small that its schedule is far from the bound"};
  return {std::move(form)};
}

constinit const Algorithm dragonfly{
    .pattern = Pattern::all_to_all,
    .name = "dragonfly",
    .summary = "all groups of a full dragonfly at once, by matchings of the routers' distances",
    .source = "own",
    .contention_free = true,
    .ports = PortModel::one_port,
    .why_not = dragonfly_why_not,
    .make = make_dragonfly,
    .rank = 5,
    .is_far = dragonfly_is_far,
    .form = dragonfly_form,
};

}  // namespace hocket::algorithms
