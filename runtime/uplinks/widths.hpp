#pragma once
/// Known widths of inter-switch links where the launcher only assumed them
/// (docs/decisions/0018-inter-switch-links-are-measured-in-the-job.md).
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/network/network.hpp"
#include "core/network/switch_links.hpp"
#include "runtime/plan/placement.hpp"

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

/// Measures the width of inter-switch links between the hosts of a communicator.
struct MeasuredSwitchLink {
  std::uint32_t link = 0;   ///< index in NetworkSpec::links
  std::uint32_t pairs = 0;  ///< pairs of hosts that exchanged data at once
  std::uint64_t rate = 0;   ///< bytes per second that they got together, one way
  double width = 0;         ///< rate over that of one pair alone
};

struct SwitchLinkMeasurement {
  std::uint64_t host_rate = 0;  ///< bytes per second of one pair alone, one way; 0: nothing came through
  std::vector<MeasuredSwitchLink> switch_links;  ///< in the order of `wanted`
  std::size_t probed = 0;  ///< inter-switch links measured; the others are taken to equal one of these
  double seconds = 0;      ///< duration of the measurement
};

/// Measures the given inter-switch links of a communicator's part of the network, one after the other, about as long as
/// `budget`: links for which there is no time are taken to be like one of the same level with as many hosts. One rank
/// per host takes part. Collective over `comm`, which nobody else uses meanwhile; the same on all ranks but for the
/// seconds. No two hosts may share a machine. Throws MpiFailure, and InputError on all ranks alike.
[[nodiscard]] SwitchLinkMeasurement measure_switch_links(MPI_Comm comm, const Network& part, const Numbering& numbering,
                                                         std::span<const SwitchLink> wanted,
                                                         std::chrono::milliseconds budget);

/// Bytes per second that a pair of hosts gets alone, one way; 0: nothing came through. There must be two hosts.
/// Otherwise as measure_switch_links(); about 30 ms.
[[nodiscard]] std::uint64_t measure_host_rate(MPI_Comm comm, const Network& part, const Numbering& numbering);

}  // namespace hocket::runtime
