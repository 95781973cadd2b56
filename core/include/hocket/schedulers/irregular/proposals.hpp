#pragma once
/// Phases of an irregular exchange that its ranks agree on by themselves: nobody knows more than whom it sends to and
/// who sends to it. A rank proposes a phase for each message that has none, and the receiver grants those that it has
/// free.
///
/// The random phases are those of RS_N (Wang, Lin and Ranka, section 3.3); making them by rounds of proposals is edge
/// colouring in a distributed system (Panconesi and Srinivasan, 1997). Taking a phase from another message where
/// nothing is free: own.
#include <cstdint>
#include <span>
#include <vector>

#include "hocket/demand/demand.hpp"
#include "hocket/schedulers/random.hpp"

namespace hocket {

inline constexpr std::uint32_t no_phase = ~std::uint32_t{0};

/// From a sender to a receiver, about the message between them.
struct PhaseProposal {
  std::uint32_t phase = no_phase;
  std::uint32_t insists = 0;  ///< 1: another message is to give the phase up
};

/// The answer, which also says which phases the receiver has free, 64 of them at most.
struct PhaseReply {
  std::uint32_t granted = 0;  ///< 1: the message has, or keeps, its phase
  std::uint32_t first = 0;    ///< the phase of bit 0 of `free`
  std::uint64_t free = 0;
};

/// Of one rank: the lots it draws differ from those of the others.
[[nodiscard]] inline std::uint64_t proposal_seed(std::uint64_t seed, Rank rank) {
  return seed * 0xd1342543de82ef95u + rank;
}

/// What all ranks do next. Everything follows from counts that they have agreed on.
class ProposalPace {
 public:
  /// For as many messages as the busiest rank sends or receives, 1 or more.
  explicit ProposalPace(std::uint32_t degree);

  [[nodiscard]] std::uint32_t phases() const { return phases_; }  ///< that may be proposed
  /// Whether messages may take phases from others. Every receiver then answers every sender, as each may lose a phase.
  [[nodiscard]] bool taking() const { return taking_; }
  /// How many rounds to go before messages without a phase are counted again.
  [[nodiscard]] std::uint32_t rounds() const { return taking_ ? 8 : 4; }
  /// Of all ranks together: so many messages have no phase yet.
  void count(std::uint64_t left);

 private:
  std::uint32_t phases_, most_;
  bool taking_ = false;
  std::uint64_t left_ = ~std::uint64_t{0};
};

/// One rank's part. A round: propose; reply to what the others proposed; learn from their replies. The rank waits for
/// a proposal from every source whose message has no phase, and for a reply from every target that it proposed to, or
/// from all while phases are taken. So ranks run freely, and the result does not depend on what arrives first.
/// Memory: O(1) words for each message sent or received.
class ProposingRank {
 public:
  ProposingRank(std::uint32_t sends, std::uint32_t receives, std::uint32_t phases, std::uint64_t seed);

  void allow(std::uint32_t phases);  ///< as many as before or more
  /// One proposal for each send; that of a send with a phase is left as it is.
  void propose(bool taking, std::span<PhaseProposal> proposals);
  /// One proposal and one reply for each receive. Of those with a phase no proposal is read.
  void reply(std::span<const PhaseProposal> proposals, std::span<PhaseReply> replies);
  /// One reply for each send. Of those that `propose` left alone none is read, unless phases are taken.
  void learn(bool taking, std::span<const PhaseProposal> proposals, std::span<const PhaseReply> replies);

  /// no_phase while there is none.
  [[nodiscard]] std::uint32_t send_phase(std::uint32_t send) const { return sends_[send].phase; }
  [[nodiscard]] std::uint32_t receive_phase(std::uint32_t receive) const { return receive_phase_[receive]; }
  [[nodiscard]] std::uint32_t left() const { return left_; }  ///< sends without a phase
  [[nodiscard]] std::uint64_t bytes() const;                  ///< of memory that it holds

 private:
  struct Send {
    std::uint32_t phase = no_phase, first = 0;  ///< `first`, `free`: as the receiver last said
    std::uint64_t free = 0;
  };

  [[nodiscard]] std::uint64_t free_from(const std::vector<std::uint64_t>& busy, std::uint32_t first) const;
  [[nodiscard]] std::uint32_t pick_free();
  void set(std::vector<std::uint64_t>& busy, std::uint32_t phase) {
    busy[phase / 64] |= std::uint64_t{1} << phase % 64;
  }
  void clear(std::vector<std::uint64_t>& busy, std::uint32_t phase) {
    busy[phase / 64] &= ~(std::uint64_t{1} << phase % 64);
  }
  std::uint32_t window() { return phases_ > 64 ? random_.below(phases_ - 63) : 0; }

  std::uint32_t phases_, left_;
  algorithms::Random random_;
  std::vector<Send> sends_;
  std::vector<std::uint32_t> receive_phase_, order_;
  std::vector<std::uint64_t> sends_in_, receives_in_, proposed_;  ///< bits, per phase
};

/// What the rounds took when the ranks of an exchange were simulated.
struct ProposalRun {
  std::vector<std::uint32_t> phase_of;  ///< of each message, row by row
  std::uint32_t phases = 0, rounds = 0, counts = 0;
  std::uint64_t messages = 0;       ///< of scheduling, from one rank to another
  std::uint64_t most_messages = 0;  ///< that one rank sent
  double seconds = 0;               ///< until the last rank knows its phases
  std::uint64_t bytes = 0;          ///< of memory of the rank that holds most
};

/// What a message of some bytes costs: `overhead` seconds of each end's processor, and `latency` on its way.
struct SmallMessage {
  double overhead = 1e-6, latency = 2e-6;
};

/// All ranks of an irregular demand, one after the other, with a clock for each: first they learn who sends to them
/// (Hoefler, Siebert and Lumsdaine, 2010: a message to each, and a barrier) and the largest degree, then come the
/// rounds. A count is a reduction to one rank and a broadcast, in ⌈log₂ n⌉ steps each.
[[nodiscard]] ProposalRun run_proposals(const Demand& demand, std::uint64_t seed, SmallMessage costs = {});

}  // namespace hocket
