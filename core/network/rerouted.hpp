#pragma once
/// Networks whose messages take other ways than their own.
#include <span>

#include "core/network/network.hpp"

namespace hocket {

/// A network of explicit routes with the channels of this one: the given routes between hosts, and its own for all
/// other pairs. Throws NetworkProblem for a route that is none.
[[nodiscard]] Network rerouted(const Network& network, std::span<const RouteSpec> routes);

}  // namespace hocket
