#pragma once
/// Messages that explain why the ranks of a communicator cannot follow a plan together.
#include <mpi.h>

#include <string>

#include "runtime/plan/placement.hpp"

namespace hocket::runtime {

/// Why a process has no place in the network, and what to do.
[[nodiscard]] std::string why_lost(const Placement& placement);
/// Why ranks of a communicator have no place, and what to do; the same on all ranks. Collective.
[[nodiscard]] std::string unmapped_ranks(MPI_Comm comm, const Placement& own);
/// In what ranks that have different plans or settings differ. Collective.
[[nodiscard]] std::string differing_settings(MPI_Comm comm);

}  // namespace hocket::runtime
