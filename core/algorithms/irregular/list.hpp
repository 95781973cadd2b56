#pragma once
/// Estimated time of an irregular exchange by the algorithm `list`.
#include "core/algorithms/algorithm.hpp"
#include "core/demand/demand.hpp"
#include "core/network/network.hpp"

namespace hocket::algorithms {

/// Seconds until the last message is over if nothing but the wires takes time; cheaper than the schedule and
/// its simulation.
[[nodiscard]] double list_seconds(const Network& network, const Demand& demand, const AlgorithmOptions& costs);

}  // namespace hocket::algorithms
