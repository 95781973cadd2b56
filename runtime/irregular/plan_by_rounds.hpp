#pragma once
/// Planning an irregular exchange of which every rank knows its own messages only.
#include <mpi.h>

#include <cstdint>
#include <optional>

#include "core/network/network.hpp"
#include "runtime/buffers/peer_bytes.hpp"
#include "runtime/choose/irregular_choices.hpp"
#include "runtime/irregular/schedule_cache.hpp"
#include "runtime/plan/numbering.hpp"
#include "runtime/plan/planned.hpp"

namespace hocket::runtime {

/// Whether ranks are to agree on phases with their partners: by HOCKET_SCHEDULER, or because they are too many for each
/// of them to plan the whole. Only where nothing but their ports can be shared (only_ports_shared()): phases do not
/// look at links, and no rank knows who else is on one.
[[nodiscard]] bool wants_rounds(std::uint32_t ranks);

/// What the ranks' ports carry in an exchange.
struct PortLoads {
  double most_bytes = 0;            ///< of one port: no channel is busier
  std::uint32_t most_messages = 0;  ///< that a rank sends or receives
  bool worth = false;               ///< a schedule gains: see worth_scheduling()
};
/// `all`: what all ranks send. Collective.
[[nodiscard]] PortLoads port_loads(MPI_Comm comm, const PeerBytes& peer_bytes, const Extent& all);

struct PlannedByRounds {
  std::optional<Planned> planned;  ///< in ranks of the communicator
  DemandClass demand_class;
  std::uint32_t rounds = 0;
  std::string problem = {};  ///< why nothing was planned
};

/// What this rank does. `comm`: one of the runtime's own; there must be messages. Nothing, on all ranks alike, if some
/// rank cannot plan, which is then said. Throws InputError on all ranks alike if sizes disagree between sender and
/// receiver. Collective.
[[nodiscard]] PlannedByRounds plan_by_rounds(MPI_Comm comm, const Network& part, const Numbering& numbering,
                                             const PeerBytes& peer_bytes, const Extent& all, const PortLoads& loads);

}  // namespace hocket::runtime
