#pragma once
/// Lower bounds of an all-gather: cuts of the network, and how fast knowledge can spread.
#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/bound_figures.hpp"
#include "core/schedule/verify.hpp"

namespace hocket {

/// - seconds: over cuts, what must cross (every contribution of one side, once) over the rate at
///   which it can. On a tree all cuts of one link, which suffices; elsewhere all cuts, by flows to every
///   host (hosts × channels up to 2^20; one host on tori, hypercubes and meshes with equal parts), beyond
///   that the cuts around hosts and around all that lies within so many links of a host. Where only
///   routes are known: the first and the last channels of each host's routes.
/// - load: what must cross a channel that is a cut of its own (tree links), in contributions.
/// - phases: fewest_phases() where ports do not count.
[[nodiscard]] Bounds all_gather_bounds(const Network& network, const Demand& demand);

/// Phases that no all-gather can do without: with p messages at once, who knows k contributions can know (p + 1) · k
/// after the next phase. one_port: p is the most ports of a host. all_port: as many as the verifier lets a rank send:
/// to each other rank of its host, and on each link as many as together are no faster than it.
[[nodiscard]] std::uint64_t fewest_phases(const Network& network, PortModel ports);

}  // namespace hocket
