#pragma once
/// The algorithms that there are.
#include "core/algorithms/algorithm.hpp"

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

namespace hocket::algorithms {

#define HOCKET_DECLARE(name) extern const Algorithm name;
HOCKET_ALGORITHMS(HOCKET_DECLARE)
#undef HOCKET_DECLARE

}  // namespace hocket::algorithms
