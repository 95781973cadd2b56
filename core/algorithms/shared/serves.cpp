#include "core/algorithms/shared/serves.hpp"

namespace hocket::algorithms {

std::string_view common_why_not(const Network& network, const Demand& demand) {
  if (demand.ranks != network.ranks()) return "demand and network differ in the number of ranks";
  if (demand.ranks > max_explicit_ranks) return "more than 8192 ranks: ask for one rank's program";
  if (demand.pattern != Pattern::all_to_all) return "it serves the all-to-all";
  return {};
}

std::string_view gather_why_not(const Network& network, const Demand& demand) {
  if (demand.ranks != network.ranks()) return "demand and network differ in the number of ranks";
  if (demand.ranks > max_explicit_ranks) return "more than 8192 ranks: there is no schedule of that size";
  if (demand.pattern != Pattern::all_gather) return "it serves the all-gather";
  return {};
}

std::string_view irregular_why_not(const Network& network, const Demand& demand) {
  if (demand.ranks != network.ranks()) return "demand and network differ in the number of ranks";
  if (demand.pattern != Pattern::irregular) return "it serves irregular exchanges";
  return {};
}

}  // namespace hocket::algorithms
