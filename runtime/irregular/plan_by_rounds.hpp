#pragma once
/// Planning an irregular exchange of which every rank knows its own messages only.
#include <mpi.h>

#include <cstdint>
#include <optional>

#include "core/network/network.hpp"
#include "runtime/buffers/vector_call.hpp"
#include "runtime/plan/placement.hpp"
#include "runtime/plan/planned.hpp"

namespace hocket::runtime {

/// True if ranks should agree on phases with their partners: by HOCKET_ALGORITHM, or because there are too many of them
/// for each to plan the whole exchange. Only where nothing but their ports can be shared (only_ports_shared()): phases
/// do not look at links, and no rank knows who else is on one.
[[nodiscard]] bool wants_rounds(std::uint32_t ranks);

/// Loads of the ranks' ports in an exchange.
struct PortLoads {
  std::uint64_t most_bytes = 0;     ///< largest load of a port; no channel has a larger one
  std::uint32_t most_messages = 0;  ///< largest number of messages that a rank sends or receives
  std::uint64_t messages = 0;       ///< of all ranks
};
/// Collective.
[[nodiscard]] PortLoads port_loads(MPI_Comm comm, const PeerBytes& peer_bytes);

/// Plans this rank's program. `comm`: one of the runtime's own; the exchange must have messages. Nothing is planned, on
/// all ranks alike, if some rank cannot plan; `problem` and a warning then say why. Throws InputError on all ranks
/// alike if sizes disagree between sender and receiver. Collective.
[[nodiscard]] std::optional<Planned> plan_by_rounds(MPI_Comm comm, const Network& part, const Numbering& numbering,
                                                    const PeerBytes& peer_bytes, const PortLoads& loads,
                                                    std::uint32_t& rounds, std::string& problem);

}  // namespace hocket::runtime
