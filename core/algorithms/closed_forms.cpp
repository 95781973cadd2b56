#include "core/algorithms/closed_forms.hpp"

namespace hocket {

FoundForm closed_form_of(const Network& network, const Demand& demand, std::string_view algorithm) {
  if (demand.pattern != Pattern::all_to_all) return {nullptr, {}, "only all-to-alls have rows of their own"};
  if (demand.ranks != network.ranks() || demand.ranks < 2) return {nullptr, {}, "it needs at least two ranks"};
  if (!network.equal_rates()) return {nullptr, {}, "links differ in rate"};
  std::string_view reason = "its routes have no closed form; those of trees, grids, fat trees and dragonflies have";
  for (const Algorithm* const one : by_rank(demand.pattern)) {
    if (one->form == nullptr || (!algorithm.empty() && one->name != algorithm)) continue;
    FoundForm found = one->form(network, demand, algorithm.empty());
    found.algorithm = one->name;
    if (found.form != nullptr) return found;
    if (!found.why_not.empty()) reason = found.why_not;
  }
  return {nullptr, {}, reason};
}

}  // namespace hocket
