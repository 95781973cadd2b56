#pragma once
/// List scheduling of streams: every send gets its phase.
#include "core/algorithms/all_gather/streams.hpp"

namespace hocket::algorithms {

/// List scheduling in the order of time: a chunk goes over an edge when it has arrived and ports and
/// channels have room, over the edge with the most loaded channel first. Its phase is the first one
/// after all it follows. A send takes its per-message cost and its bytes on the slowest channel. Deterministic;
/// near-linear in sends × route length. `seconds`: when the last send is over.
[[nodiscard]] Schedule schedule_streams(const Network& network, const Demand& demand, const Streams& streams,
                                        PortModel ports, const AlgorithmOptions& costs, double* seconds = nullptr);

}  // namespace hocket::algorithms
