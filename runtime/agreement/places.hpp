#pragma once
/// What the ranks of a communicator must know of each other before they follow a plan together.
#include <mpi.h>

#include <string>
#include <vector>

#include "core/network/network.hpp"

namespace hocket::runtime {

/// The same on all ranks.
struct Places {
  std::string obstacle = {};    ///< why they cannot, and what to do; empty: they can, or none of them has a plan
  std::vector<Node> nodes;      ///< of the plans' network, where each rank is; empty without plans
  bool machines_differ = true;  ///< no two hosts are one machine, as they are in tests: there is no wire between those
  bool gpu = false;             ///< some rank's buffers may be in a GPU's memory
};

/// Collective.
[[nodiscard]] Places agree_on_places(MPI_Comm comm);

}  // namespace hocket::runtime
