#pragma once
/// A network as the gossip algorithms see it.
#include <optional>

#include "core/algorithms/algorithm.hpp"
#include "core/demand/demand.hpp"
#include "core/gossip/steps.hpp"
#include "core/network/network.hpp"

namespace hocket {

/// The grid of a torus, mesh or hypercube (a mesh of sides 2); none for other networks.
[[nodiscard]] std::optional<gossip::Grid> grid_of(const Network& network);

/// r = t_s / (L·t_l): what a message costs besides its transfer (per-message cost, and a link's latency), in
/// transfers of a mean contribution over one link.
[[nodiscard]] double alpha_ratio(const Network& network, const Demand& demand, const AlgorithmOptions& costs);

}  // namespace hocket
