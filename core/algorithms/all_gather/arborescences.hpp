#pragma once
/// Spanning trees of one root that pack the capacities exactly.
#include <span>

#include "core/algorithms/shared/slots.hpp"

namespace hocket::algorithms {

/// Gives trees of equal parts and one root their parents, such that all are carried in `seconds`; false: none were
/// found so. As many as the narrowest cut carries there are by Edmonds's theorem ("Edge-disjoint branchings", 1973),
/// found by Lovász's proof of it (1976): a tree takes a route if all hosts can still be reached as often as trees are
/// to come. Where routes share channels, or turn at switches without hosts, that may miss trees that there are.
[[nodiscard]] bool pack_exactly(const Network& network, const HostRoutes& routes, std::span<HostTree> trees,
                                double seconds);

}  // namespace hocket::algorithms
