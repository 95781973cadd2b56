#pragma once
/// The rounds of the algorithm `proposals` in messages: partners agree on phases, and nobody knows the whole exchange.
/// Proposals and acceptances are the core's (algorithms/irregular/proposals.hpp), so that the phases are those that it
/// computes from the whole matrix.
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "core/algorithms/irregular/proposals.hpp"
#include "core/plan/program.hpp"
#include "runtime/buffers/vector_call.hpp"
#include "runtime/plan/placement.hpp"

namespace hocket::runtime {

/// One rank's part. Its memory grows with the number of partners times phases, its messages with partners times rounds.
/// Partners are ranks of the network, in ascending order.
class ProposalRounds {
 public:
  /// `busiest`: messages that a rank sends or receives, at most. All must outlive it; nobody else uses `comm`.
  ProposalRounds(MPI_Comm comm, const Numbering& numbering, const PeerBytes& partners, std::uint32_t busiest);

  /// Until every message has a phase. Senders and receivers must agree on who they are, or ranks wait for ever.
  /// Collective.
  void run();
  [[nodiscard]] std::uint32_t rounds() const { return rounds_; }
  /// The largest message of each phase, of all ranks. Leaves out the phases in which nobody sends. Collective.
  [[nodiscard]] std::vector<std::uint64_t> close_gaps();
  /// This rank's program where a message waits only for its receiver's port: for the message `window` places earlier
  /// there. Partners tell each other which send is released, and whether it waits. Collective.
  [[nodiscard]] RankProgram program(std::uint32_t window) const;

 private:
  void round();
  void grow(std::uint32_t phases);
  /// Takes what it can of the proposals to this rank; per open source, whether that was taken.
  [[nodiscard]] std::vector<bool> take(const std::vector<std::uint32_t>& proposals);

  MPI_Comm comm_;
  const Numbering& numbering_;
  const PeerBytes& partners_;
  std::uint32_t phases_ = 0, rounds_ = 0;
  algorithms::Proposer proposer_;
  std::vector<std::vector<std::uint64_t>> answers_;  ///< per receiver, the last: whether it took, and what it has free
  algorithms::FreePhases free_;                      ///< to receive in
  std::vector<std::uint32_t> open_sources_;          ///< places among those who send to this rank
  std::vector<std::uint32_t> send_phase_, receive_phase_;  ///< per partner
};

}  // namespace hocket::runtime
