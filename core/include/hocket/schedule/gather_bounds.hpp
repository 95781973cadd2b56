#pragma once
/// Lower bounds of an all-gather: cuts of the network, and how fast knowledge can spread.
#include "hocket/schedule/bounds.hpp"

namespace hocket {

/// - seconds: over cuts, what must cross (every contribution of one side, once) over the rate at
///   which it can. On a tree all cuts of one link; elsewhere the cuts around each host.
/// - load: what must cross a channel that is a cut of its own (tree links), in contributions.
/// - phases: ceil(log_{p+1} N) for N hosts with p messages at once (a host that knows k
///   contributions of others after a phase knows at most (p+1)·k + p after the next).
[[nodiscard]] Bounds all_gather_bounds(const Network& network, const Demand& demand);

}  // namespace hocket
