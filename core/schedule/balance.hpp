#pragma once
/// Routes that load the channels of a network more evenly.
#include "core/demand/demand.hpp"
#include "core/network/network.hpp"

namespace hocket {

/// The network with other routes, where those lower the bound of the demand, or leave it and even the other
/// loads; otherwise as it is. A torus gets other ties on the sides where that helps, a graph the forwarding tables of
/// balanced_next_hops(), which are also what a graph without tables follows: that one gets them written out. Throws
/// InputError for networks whose routes cannot be chosen, for demands other than all-to-all, and for graphs that are
/// too large (can_be_balanced()).
[[nodiscard]] Network balance_routes(const Network& network, const Demand& demand);

}  // namespace hocket
