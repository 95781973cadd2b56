#pragma once
/// Facts that the ranks of a communicator exchange before they follow a plan together.
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/network/network.hpp"
#include "runtime/plan/placement.hpp"

namespace hocket::runtime {

/// Result of agree_on_places(), identical on all ranks.
struct Places {
  std::string obstacle = {};    ///< the reason why the ranks cannot follow a plan together, and a remedy; empty: they
                                ///< can, or none has a plan
  std::vector<Node> nodes;      ///< network node of each rank; empty without plans
  bool machines_differ = true;  ///< no two hosts are one machine, as they are in tests: there is no wire between those
  std::uint64_t own_ways = 0;   ///< OwnView::number of this rank, as it has told it
  bool ways_changed = false;    ///< some rank has seen connections on other ways than were found
  bool ways_watched = false;    ///< some rank can see them change
  bool gpu = false;             ///< some rank's buffers may be in a GPU's memory
  std::uint64_t number = 0;     ///< of this meeting, which no other one of the same ranks has; 0: there is an obstacle
  bool all_kept = false;        ///< all ranks have kept the same
};

/// `kept`: the number of the meeting from which this rank has kept what these ranks have made; 0: nothing. Collective.
[[nodiscard]] Places agree_on_places(MPI_Comm comm, std::uint64_t kept = 0);

/// Messages that explain why the ranks of a communicator cannot follow a plan together.
/// The reason why a process could not be located in the network, and a remedy.
[[nodiscard]] std::string why_lost(const Placement& placement);
/// The reason why ranks of a communicator could not be located, and a remedy; the same on all ranks. Collective.
[[nodiscard]] std::string unmapped_ranks(MPI_Comm comm, const Placement& own);
/// The differences between the ranks' plans and settings. Collective.
[[nodiscard]] std::string differing_settings(MPI_Comm comm);

}  // namespace hocket::runtime
