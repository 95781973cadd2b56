#pragma once
/// Local detection of erroneous calls: those in whose arguments the MPI library finds an error before it waits for any
/// other rank. Such a call goes to the library at once: it is not counted, and nothing is agreed, voted on, met or
/// looked at for it, since other ranks may not make it at all
/// (docs/decisions/0050-local-errors-never-move-collective-state.md).
///
/// Other ranks may count every call that is not erroneous here, so this one takes part in what becomes of it.
#include "runtime/buffers/vector_call.hpp"
#include "runtime/calls/all_to_all.hpp"
#include "runtime/calls/broadcast.hpp"
#include "runtime/calls/gather.hpp"
#include "runtime/calls/gather_scatter.hpp"
#include "runtime/calls/reduce.hpp"
#include "runtime/mpi/refusals.hpp"

namespace hocket::runtime {

class Team;

/// `name`: of the call, whatever its form. Local; well below a microsecond.
[[nodiscard]] bool erroneous(LibraryCall name, const AllToAllCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const GatherCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const BroadcastCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const AllReduceCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const ReduceScatterCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const ReduceCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const RootCall& call, const Team& team);
/// `reach`: as the neighbours of the call were found by it.
[[nodiscard]] bool erroneous(LibraryCall name, const VectorCall& call, const Neighbours& neighbours, Reach reach);

}  // namespace hocket::runtime
