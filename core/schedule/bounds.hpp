#pragma once
/// Loads and lower bounds of a demand on a network: what no schedule can beat.
#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/bound_figures.hpp"
#include "core/schedule/verify.hpp"

namespace hocket {

/// Irregular demands are counted route by route; their phases, and `port_seconds`, are of the one-port model.
/// All-to-all loads. Trees are counted by subtree sizes and grids ring by ring, in linear time (one rank's row
/// at 100,000 hosts needs this); other networks by walking every route.
[[nodiscard]] Bounds lower_bounds(const Network& network, const Demand& demand);

/// No schedule of this port model has fewer phases. Those of an all-gather: fewest_phases(), if there is a byte to
/// send.
[[nodiscard]] std::uint64_t least_phases(const Network& network, const Demand& demand, const Bounds& bounds,
                                         PortModel ports);
/// No schedule takes less time if a message costs its sender `alpha` seconds. Only an all-gather's bound counts them
/// (Lemma 1 of Juurlink, Sibeyn and Rao): every phase costs one, and so does the first message before the last byte
/// crosses the narrowest cut. Where a sum is for some ranks alone, all may send to these at once.
[[nodiscard]] double least_seconds(const Network& network, const Demand& demand, const Bounds& bounds, double alpha);

}  // namespace hocket
