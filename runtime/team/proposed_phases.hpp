#pragma once
/// Scheduling an irregular exchange of so many ranks that none can know the whole of it: each knows its own messages,
/// and ranks agree on phases by proposals (hocket/schedulers/irregular/proposals.hpp).
#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/buffers/peer_bytes.hpp"
#include "runtime/plan/planned.hpp"

namespace hocket::runtime {

/// In ranks of the communicator.
struct ProposedPhases {
  RankProgram program;  ///< one piece per send and receive
  std::uint64_t phases = 0;
  /// Of all ranks: of the longest messages of the phases together, and of the busiest port.
  std::uint64_t lockstep_bytes = 0, bound_bytes = 0;
};

/// What everybody sends to this rank, by ascending rank. Collective; nobody else uses `comm` meanwhile. Nonblocking
/// consensus (Hoefler, Siebert and Lumsdaine, 2010): messages and memory are proportional to `sends` and receives.
[[nodiscard]] std::vector<Volume> find_sources(MPI_Comm comm, std::span<const Volume> sends);

/// Phases in which no rank sends or receives twice, and the tokens that keep `window` messages at most on their way to
/// a rank. What links lie between ranks is not looked at. Same demand and seed, same phases. Collective; nobody else
/// uses `comm` meanwhile.
[[nodiscard]] ProposedPhases propose_phases(MPI_Comm comm, const PeerBytes& peer_bytes, std::uint64_t seed,
                                            std::uint32_t window);

}  // namespace hocket::runtime
