#include "core/algorithms/registry.hpp"

#include <array>
#include <iterator>

#include "core/error.hpp"

namespace hocket {

#define HOCKET_ADDRESS(name) &algorithms::name,
constexpr std::array table{HOCKET_ALGORITHMS(HOCKET_ADDRESS)};
#undef HOCKET_ADDRESS

std::span<const Algorithm* const> all_algorithms() { return table; }

std::vector<const Algorithm*> by_rank(Pattern pattern) {
  std::vector<const Algorithm*> found;
  std::ranges::copy_if(table, std::back_inserter(found),
                       [&](const Algorithm* one) { return one->pattern == pattern && one->rank > 0; });
  std::ranges::sort(found, {}, &Algorithm::rank);
  return found;
}

const Algorithm* known_algorithm(std::string_view name, Pattern pattern) {
  const Pattern served = reduces(pattern) ? Pattern::all_gather : pattern;
  const auto found =
      std::ranges::find_if(table, [&](const Algorithm* one) { return one->pattern == served && one->name == name; });
  return found == std::ranges::end(table) ? nullptr : *found;
}

const Algorithm& find_algorithm(std::string_view name, Pattern pattern) {
  if (const Algorithm* const found = known_algorithm(name, pattern)) return *found;
  if (reduces(pattern)) pattern = Pattern::all_gather;
  std::string known;
  for (const Algorithm* const algorithm : table)
    if (algorithm->pattern == pattern) known += (known.empty() ? "" : ", ") + std::string(algorithm->name);
  throw InputError("no " + std::string(to_string(pattern)) + " algorithm is called '" + std::string(name) +
                   "'; there are " + known);
}

std::string_view Algorithm::why_not(const Network& network, const Demand& demand) const {
  const bool gathers = pattern == Pattern::all_gather;
  if (demand.ranks != network.ranks()) return "demand and network differ in the number of ranks";
  if (demand.ranks > algorithms::max_explicit_ranks && pattern != Pattern::irregular)
    return gathers ? "more than 8192 ranks: there is no schedule of that size"
                   : "more than 8192 ranks: ask for one rank's program";
  if (demand.pattern != pattern && pattern == Pattern::irregular) return "it serves irregular exchanges";
  if (demand.pattern != pattern) return gathers ? "it serves the all-gather" : "it serves the all-to-all";
  return refuses == nullptr ? std::string_view() : refuses(network, demand);
}

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
