#pragma once
/// The ranks of each host come to share memory.
#include <mpi.h>

#include <memory>

#include "runtime/two_level/host_team.hpp"

namespace hocket::runtime {

/// Null, on all ranks alike and with a warning, where the ranks of some host cannot. Collective; `own` is the runtime's
/// alone.
[[nodiscard]] std::unique_ptr<HostTeam> form_host_team(MPI_Comm own, const Numbering& numbering);

}  // namespace hocket::runtime
