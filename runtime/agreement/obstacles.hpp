#pragma once
/// Messages that explain why the ranks of a communicator cannot follow a plan together.
#include <mpi.h>

#include <string>

#include "runtime/plan/placement.hpp"

namespace hocket::runtime {

/// The reason why a process could not be located in the network, and a remedy.
[[nodiscard]] std::string why_lost(const Placement& placement);
/// The reason why ranks of a communicator could not be located, and a remedy; the same on all ranks. Collective.
[[nodiscard]] std::string unmapped_ranks(MPI_Comm comm, const Placement& own);
/// The differences between the ranks' plans and settings. Collective.
[[nodiscard]] std::string differing_settings(MPI_Comm comm);

}  // namespace hocket::runtime
