#pragma once
/// Known widths of inter-switch links where the launcher only assumed them
/// (docs/decisions/0018-inter-switch-links-are-measured-in-the-job.md).
#include <mpi.h>

#include <optional>
#include <string>

#include "core/network/network.hpp"
#include "runtime/plan/numbering.hpp"

namespace hocket::runtime {

/// The network by which calls may be scheduled whose gain rests on these widths.
struct SettledNetwork {
  /// Nothing: the launcher's.
  std::optional<Network> measured = {};
  /// The reason why nothing is known, and a remedy; empty: there is a network.
  std::string problem = {};
};

/// For the ranks of a communicator, by what any of them knows and, where that does not do, by measuring: see
/// measure_switch_links(). `own` has the same ranks, and nobody else uses it meanwhile. `machines_differ`: as in
/// Places. Collective, the same on all ranks.
[[nodiscard]] SettledNetwork settle_network(MPI_Comm own, const Network& network, const Numbering& numbering,
                                            bool machines_differ);

}  // namespace hocket::runtime
