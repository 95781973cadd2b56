#pragma once
/// Ways of connections that have changed since they were found.
#include <mpi.h>

#include <optional>

#include "core/network/network.hpp"
#include "runtime/paths/seen_ways.hpp"

namespace hocket::runtime {

/// Ways as this process has seen them at its start, if it is the first of its host and there is a table of them. Looks
/// at the first call, which must precede all connections. Local.
[[nodiscard]] const SeenWays& seen_ways();

/// The network with the ways that the ranks have seen; nothing, and a warning, where it cannot be planned for. Said
/// once. Collective, the same on all ranks.
[[nodiscard]] std::optional<Network> network_as_seen(MPI_Comm comm, const Network& network);

}  // namespace hocket::runtime
