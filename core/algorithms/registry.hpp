#pragma once
/// The algorithms that there are.
/// A line each; the descriptor is in the file of the algorithm.
// clang-format off
#define HOCKET_ALGORITHMS(one) \
  one(tree) \
  one(product) \
  one(fat_tree) \
  one(nested_shifts) \
  one(dragonfly) \
  one(packing) \
  one(list) \
  one(relays) \
  one(ring) \
  one(pairwise) \
  one(linear) \
  one(shift) \
  one(paired_shift) \
  one(switch_ring) \
  one(gossip) \
  one(stride) \
  one(rails) \
  one(spreading) \
  one(group_chain) \
  one(disjoint_trees) \
  one(tree_packing) \
  one(neighbor_ring) \
  one(recursive_doubling) \
  one(bruck) \
  one(neighbor_exchange) \
  one(asynchronous) \
  one(linear_permutation) \
  one(random_nodes) \
  one(random_links) \
  one(random_nodes_even) \
  one(random_links_even) \
  one(proposals) \
  one(colouring) \
  one(open_shop) \
  one(irregular_list) \
  one(critical)
// clang-format on
#include <string_view>

#include "core/algorithms/algorithm.hpp"

namespace hocket::algorithms {

#define HOCKET_DECLARE(name) extern const Algorithm name;
HOCKET_ALGORITHMS(HOCKET_DECLARE)
#undef HOCKET_DECLARE

/// Limit of explicit schedules, in ranks; beyond, each rank computes its own program.
inline constexpr std::uint32_t max_explicit_ranks = 8192;

/// The reason why there is no explicit schedule of an all-to-all, an all-gather or an irregular exchange; empty if one
/// can be made.
std::string_view common_why_not(const Network& network, const Demand& demand);
std::string_view gather_why_not(const Network& network, const Demand& demand);
std::string_view irregular_why_not(const Network& network, const Demand& demand);

}  // namespace hocket::algorithms

namespace hocket {

/// The schedule that plan_exchange() would choose, in closed form. Null where it has none: then `why_not` says why.
/// Time and memory are linear in the nodes of the network. `algorithm`: that of this one, however far from the bound.
[[nodiscard]] FoundForm closed_form_of(const Network& network, const Demand& demand, std::string_view algorithm = {});

}  // namespace hocket
