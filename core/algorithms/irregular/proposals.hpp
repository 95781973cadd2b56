#pragma once
/// Phases of an irregular exchange that the ranks find among themselves.
#include <cstdint>
#include <span>
#include <vector>

#include "core/demand/demand.hpp"

namespace hocket::algorithms {

/// Edge colouring by proposals (after Panconesi and Srinivasan, and Grable and Panconesi). A rank knows whom it sends
/// to and who sends to it, the busiest rank's messages, and nothing else. In each round
/// - every sender proposes to each receiver that it has not agreed with a phase that it has free and that the receiver
///   had free when it answered last, another one to each;
/// - every receiver takes of the proposals for a phase that it has free the first one, and answers all with its free
///   phases;
/// - a sum over all ranks tells how many messages are left, and whether phases are short: then there are more_phases().
/// At first there are first_phases(), all free. Same seed, same phases. Programs run the rounds in messages
/// (runtime/irregular/plan_by_rounds.cpp); propose() computes the same for all ranks.

/// No phase is left that a sender could propose to this receiver.
inline constexpr std::uint32_t no_phase = ~std::uint32_t{0};

/// One in eight more than the busiest rank needs.
[[nodiscard]] constexpr std::uint32_t first_phases(std::uint32_t busiest) { return busiest + (busiest + 7) / 8; }
/// One more in sixteen.
[[nodiscard]] constexpr std::uint32_t more_phases(std::uint32_t phases) { return phases + (phases + 15) / 16; }

/// The rank whose proposals come first in a round; those of the next ranks follow, those of rank 0 after the last
/// one's. It changes from round to round, so that nobody is refused for ever.
[[nodiscard]] Rank first_proposer(std::uint64_t seed, std::uint32_t round, std::uint32_t ranks);

/// The phases that a rank has free, to send in or to receive in.
class FreePhases {
 public:
  /// Bit set of free phases, as it is sent to other ranks: phase p is bit p % 64 of word p / 64.
  using Words = std::vector<std::uint64_t>;
  static constexpr std::uint32_t word_bits = 64;

  /// Words for so many phases.
  [[nodiscard]] static std::uint32_t words_for(std::uint32_t phases) { return (phases + word_bits - 1) / word_bits; }
  /// Phases `from` to `to` − 1 become free.
  static void set_free(std::span<std::uint64_t> words, std::uint32_t from, std::uint32_t to);

  /// Adds the phases up to `phases` that were not there before, all of them free.
  void grow(std::uint32_t phases);
  /// False if the phase is not free.
  bool take(std::uint32_t phase);
  [[nodiscard]] const Words& words() const { return words_; }

 private:
  std::uint32_t phases_ = 0;
  Words words_;
};

/// A sender in the rounds. Its receivers are numbered 0, 1, … by ascending rank.
class Proposer {
 public:
  Proposer(Rank rank, std::uint32_t receivers, std::uint64_t seed);

  void grow(std::uint32_t phases) { free_.grow(phases); }
  /// Receivers that it has not agreed with, in the order of the proposals.
  [[nodiscard]] std::span<const std::uint32_t> open() const { return open_; }
  /// A phase for each of open(), which it puts in order for this round. `told`: per receiver, what it had free when it
  /// answered last, as many words as the sender's own; only those of open() are looked at.
  std::span<const std::uint32_t> propose(std::uint32_t round, std::span<const std::uint64_t* const> told);
  /// True if some receiver has nothing free that this rank has: these were the last proposals.
  [[nodiscard]] bool short_of_phases() const { return short_of_phases_; }
  /// Takes over the outcome of the proposals. `taken(i)`: true if receiver open()[i] accepted the phase proposed to it.
  /// Receivers that accepted are no longer open.
  template <class Taken>
  void settle(Taken taken) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (taken(i))
        free_.take(proposed_[i]);
      else
        open_[kept++] = open_[i];
    }
    open_.resize(kept);
  }

 private:
  Rank rank_;
  std::uint64_t seed_;
  FreePhases free_;
  std::vector<std::uint32_t> open_, proposed_;
  FreePhases::Words unproposed_;  ///< free, and not proposed in this round
  bool short_of_phases_ = false;
};

struct Proposals {
  std::vector<std::uint32_t> phase_of;  ///< per message, row by row
  std::uint32_t phases = 0;             ///< the last of them, and one more
  std::uint32_t rounds = 0;             ///< each with one sum over all ranks
  std::uint64_t most_exchanged = 0;     ///< proposals that a rank sends and answers, the busiest one
  std::uint64_t most_bytes = 0;         ///< bytes that the busiest rank keeps
};

[[nodiscard]] Proposals propose(const TrafficMatrix& matrix, std::uint64_t seed);

}  // namespace hocket::algorithms
