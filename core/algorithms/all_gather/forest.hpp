#pragma once
/// Spanning trees of hosts, packed so that all channels are loaded alike.
#include "core/algorithms/shared/host_routes.hpp"
#include "core/algorithms/shared/slots.hpp"
#include "core/demand/demand.hpp"

namespace hocket::algorithms {

/// Packs trees for all contributions, several for each, over the routes that there are, towards the bound of the
/// narrowest cut. Trees grow by the prices of channels, which rise steeply with their load, and then hosts change their
/// parents as long as prices fall. By Edmonds's theorem the bound itself is met by trees that pack the capacities
/// (Zhao et al., "ForestColl", 2024); prices find nearly as good ones over given routes, with any capacities.
[[nodiscard]] Forest pack_trees(const Network& network, const Demand& demand, const HostRoutes& routes,
                                std::uint64_t seed);

}  // namespace hocket::algorithms
