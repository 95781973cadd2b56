#include "core/schedulers/closed_forms.hpp"

#include "core/limits.hpp"
#include "core/schedule/bounds.hpp"
#include "core/schedulers/fat_tree_shifts.hpp"
#include "core/schedulers/product/dealt.hpp"
#include "dragonfly_form.hpp"
#include "fat_tree_form.hpp"
#include "nested_form.hpp"
#include "product_form.hpp"
#include "tree_form.hpp"

namespace hocket {

FoundForm closed_form_of(const Network& network, const Demand& demand, std::string_view scheduler) {
  if (demand.pattern != Pattern::all_to_all) return {nullptr, {}, "only all-to-alls have rows of their own"};
  if (demand.ranks != network.ranks() || demand.ranks < 2) return {nullptr, {}, "it needs at least two ranks"};
  if (!network.equal_rates()) return {nullptr, {}, "links differ in rate"};
  if (network.tree() != nullptr) {
    auto form = std::make_unique<rows::TreeForm>(network);
    if (form->phases() != lower_bounds(network, demand).phases)
      return {nullptr, {}, "the tree schedule does not meet the bound"};
    return {std::move(form), "tree", {}};
  }
  const auto far = [&](std::uint64_t phases) {
    return !limits::is_near(network.ranks(), phases, lower_bounds(network, demand).phases);
  };
  if (network.fat_tree() != nullptr) {
    if (scheduler != "nested-shifts" && FatTreeShifts::why_not(network).empty())
      return {std::make_unique<rows::FatTreeForm>(network), "fat-tree", {}};
    std::unique_ptr<NestedShifts> shifts = NestedShifts::make(network);
    if (shifts == nullptr) return {nullptr, {}, NestedShifts::why_not(network)};
    if (scheduler.empty() && far(shifts->phases())) return {nullptr, {}, "nested shifts are far from the bound"};
    return {std::make_unique<rows::NestedForm>(network, std::move(shifts)), "nested-shifts", {}};
  }
  if (network.dragonfly() != nullptr) {
    if (const std::string_view reason = DragonflyPhases::why_not(network); !reason.empty())
      return {nullptr, {}, reason};
    auto form = std::make_unique<rows::DragonflyForm>(network);
    if (scheduler.empty() && far(form->phases()))
      return {nullptr, {}, "the dragonfly's groups are so small that its schedule is far from the bound"};
    return {std::move(form), "dragonfly", {}};
  }
  if (network.shape() == Shape::graph || network.shape() == Shape::routed)
    return {nullptr, {}, "its routes have no closed form; those of trees, grids, fat trees and dragonflies have"};
  if (network.ranks_per_host() != 1) return {nullptr, {}, "this grid does not have one rank on every host"};
  std::unique_ptr<rows::ProductForm> form = rows::ProductForm::make(network);
  if (form == nullptr) return {nullptr, {}, "the lines of this grid are too long, or not dealt out to permutations"};
  if (!product::taken_at_once(demand.messages(), form->phases(), lower_bounds(network, demand).phases))
    return {nullptr, {}, "the product of its lines is far from the bound"};
  return {std::move(form), "product", {}};
}

}  // namespace hocket
