#pragma once
/// Reductions as all-gathers with the arrows reversed.
///
/// Where an all-gather hands the block of a rank from a to b in phase t of T, the reduce-scatter hands what b has
/// added up for that block to a in phase T - 1 - t. The transfers of one block form a tree, since each rank gets it
/// once; so every rank's part is added once. Channels carry the same load in the other direction.
#include <cstdint>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket {

/// The schedule of a reduction from one of gather_of() it. An all-reduce is the reduce-scatter, then the all-gather.
/// Where a route differs from the way back, transfers of a phase that would meet are put into phases of their own.
[[nodiscard]] Schedule turned(const Network& network, Pattern reduction, const Schedule& gather);
/// The reduction in as many phases as the all-gather has, even if transfers of a phase meet: the way of MPI libraries.
[[nodiscard]] Schedule turned_in_steps(Pattern reduction, const Schedule& gather);

/// An all-reduce of a reduce-scatter and an all-gather of the same blocks, made apart. Each has half of the phases: the
/// one with fewer begins with empty ones.
[[nodiscard]] Schedule joined(const Schedule& reduce_scatter, const Schedule& gather);

/// The first so many phases of a schedule combine; in the others what arrives takes the place of what was there.
[[nodiscard]] constexpr std::uint64_t combining_phases(Pattern pattern, std::uint64_t phases) {
  if (!reduces(pattern)) return 0;
  return pattern == Pattern::all_reduce ? phases / 2 : phases;
}

}  // namespace hocket
