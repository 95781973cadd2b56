#pragma once
/// Phases of transfers, written out or in closed form.
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"

namespace hocket {

/// One send of one phase.
struct Hop {
  Rank src = 0, dst = 0;
  bool operator==(const Hop&) const = default;
};

/// The part of the message origin -> target that a hop carries: bytes [offset, offset + length).
/// In an all-gather the target is `everyone`.
struct Piece {
  Rank origin = 0, target = 0;
  std::uint64_t offset = 0, length = 0;
  auto operator<=>(const Piece&) const = default;
};

/// The pieces of all transfers, one list after the other: list k is [begin[k], begin[k + 1]) of `pieces`, and what a
/// transfer carries as one message. Blocks pass through many hands: transfers of the same pieces can share a list.
struct PieceLists {
  std::vector<std::uint64_t> begin{0};
  std::vector<Piece> pieces;
  std::vector<std::uint32_t> list;  ///< list that each transfer carries; empty: every transfer has its own, in order

  void end_list() { begin.push_back(pieces.size()); }
  [[nodiscard]] std::uint32_t lists() const { return static_cast<std::uint32_t>(begin.size() - 1); }
  [[nodiscard]] std::uint32_t list_of(std::uint64_t transfer) const {
    return list.empty() ? static_cast<std::uint32_t>(transfer) : list[transfer];
  }
  [[nodiscard]] std::span<const Piece> in(std::uint32_t k) const {
    return {pieces.data() + begin[k], pieces.data() + begin[k + 1]};
  }
};

/// Transfers grouped by phase. Most schedules send whole messages straight from origin to target;
/// these store eight bytes per transfer. Only schedules that forward, split or aggregate carry pieces.
class Schedule {
 public:
  Schedule(std::uint32_t ranks, std::uint64_t message_bytes) : ranks_(ranks), bytes_(message_bytes) {}

  /// Takes transfers already sorted by phase; phase p is [begin[p], begin[p+1]).
  Schedule(std::uint32_t ranks, std::uint64_t message_bytes, std::vector<std::uint64_t> begin, std::vector<Hop> hops,
           PieceLists pieces = {});

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] std::uint64_t message_bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t phases() const { return begin_.size() - 1; }
  [[nodiscard]] std::uint64_t size() const { return hops_.size(); }
  [[nodiscard]] std::span<const Hop> hops() const { return hops_; }
  [[nodiscard]] std::span<const Hop> phase(std::uint64_t p) const {
    return {hops_.data() + begin_[p], hops_.data() + begin_[p + 1]};
  }
  [[nodiscard]] std::span<const std::uint64_t> phase_begin() const { return begin_; }
  /// True when every transfer is a whole message on its way from origin to target.
  [[nodiscard]] bool direct() const { return pieces_.lists() == 0; }
  /// Calls `visit(piece)` for each piece of a transfer.
  template <class Visit>
  void each_piece(std::uint64_t transfer, Visit visit) const {
    if (direct()) {
      visit(Piece{hops_[transfer].src, hops_[transfer].dst, 0, bytes_});
      return;
    }
    for (const Piece& piece : pieces(transfer)) visit(piece);
  }
  /// The pieces of a transfer of a schedule that is not direct.
  [[nodiscard]] std::span<const Piece> pieces(std::uint64_t transfer) const {
    return pieces_.in(pieces_.list_of(transfer));
  }
  [[nodiscard]] const PieceLists& piece_lists() const { return pieces_; }
  /// Bytes of a transfer.
  [[nodiscard]] std::uint64_t length(std::uint64_t transfer) const;

 private:
  std::uint32_t ranks_;
  std::uint64_t bytes_;
  std::vector<std::uint64_t> begin_{0};
  std::vector<Hop> hops_;
  PieceLists pieces_;
};

/// Throws InputError if a transfer names a rank that the schedule does not have.
void check_ranks(const Schedule& schedule);

/// Sorts (phase, hop) pairs into a schedule: stable counting sort, linear time.
/// `phase_of[i]` belongs to `hops[i]`.
[[nodiscard]] Schedule group_by_phase(std::uint32_t ranks, std::uint64_t message_bytes, std::uint64_t phases,
                                      std::span<const std::uint32_t> phase_of, std::span<const Hop> hops);

/// A message of an all-to-all and the phase that it goes in.
struct PhasedMessage {
  Rank src = 0, dst = 0;
  std::uint64_t phase = 0;
  bool operator==(const PhasedMessage&) const = default;
};

/// Direction in time.
enum class Side : std::uint8_t { before, after };

/// An all-to-all in which no two messages of a phase share a channel, and no rank sends or receives two of them.
/// Channels are those of the network that it was made for. What is asked takes time that does not grow with the
/// number of messages.
class ClosedForm {
 public:
  ClosedForm() = default;
  ClosedForm(const ClosedForm&) = delete;
  ClosedForm& operator=(const ClosedForm&) = delete;
  virtual ~ClosedForm() = default;

  [[nodiscard]] virtual std::uint32_t ranks() const = 0;
  [[nodiscard]] virtual std::uint64_t phases() const = 0;
  /// The phase in which src sends to dst (src != dst).
  [[nodiscard]] virtual std::uint64_t phase(Rank src, Rank dst) const = 0;
  /// The sends of the message's sender in earlier phases.
  [[nodiscard]] virtual std::uint32_t sends_before(const PhasedMessage& message) const = 0;
  /// The rank to which a rank sends, or from which it receives, in a phase; none: it does not.
  [[nodiscard]] virtual std::optional<Rank> target(Rank rank, std::uint64_t phase) const = 0;
  [[nodiscard]] virtual std::optional<Rank> source(Rank rank, std::uint64_t phase) const = 0;
  /// Appends all messages of a phase, in any order.
  virtual void append_messages(std::uint64_t phase, std::vector<Hop>& messages) const;
  /// The last user of the channel before the phase, or the first one after it; `phase` may be before_all. Messages must
  /// have routes over the channel.
  static constexpr std::uint64_t before_all = ~std::uint64_t{0};
  [[nodiscard]] virtual std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const = 0;
  /// True if the channel is on the message's route.
  [[nodiscard]] virtual bool uses(const PhasedMessage& message, Channel channel) const = 0;
};

/// Sets `kept` to the messages that a message waits for (Side::before) or releases (Side::after). Candidates are the
/// last (first) users of the channels of its route. The rule of the waits (waits.hpp) keeps those of other senders that
/// are the last (first) on *every* channel that they share with the message. They are sorted by phase, the nearest
/// phase first; then by sender, in the same direction.
/// Linear in the route, except that users in phases further away than the next one are compared with the route.
void find_awaited(const Network& network, const ClosedForm& form, const PhasedMessage& message, Side side,
                  std::vector<PhasedMessage>& kept);

// Reductions as all-gathers with the arrows reversed.
//
// Where an all-gather hands the block of a rank from a to b in phase t of T, the reduce-scatter hands what b has
// added up for that block to a in phase T - 1 - t. The transfers of one block form a tree, since each rank gets it
// once; so every rank's part is added once. Channels carry the same load in the other direction.

/// The schedule of a reduction from one of gather_of() it. An all-reduce is the reduce-scatter, then the all-gather.
/// Where a route differs from the way back, transfers of a phase that would meet are put into phases of their own.
[[nodiscard]] Schedule turned(const Network& network, Pattern reduction, const Schedule& gather);
/// The reduction in as many phases as the all-gather has, even if transfers of a phase meet: the way of MPI libraries.
[[nodiscard]] Schedule turned_in_steps(Pattern reduction, const Schedule& gather);

/// An all-reduce of a reduce-scatter and an all-gather of the same blocks, made apart. Each has half of the phases: the
/// one with fewer begins with empty ones.
[[nodiscard]] Schedule joined(const Schedule& reduce_scatter, const Schedule& gather);

/// The first so many phases of a schedule combine; in the others what arrives takes the place of what was there.
[[nodiscard]] constexpr std::uint64_t combining_phases(Pattern pattern, std::uint64_t phases) {
  if (!reduces(pattern)) return 0;
  return pattern == Pattern::all_reduce ? phases / 2 : phases;
}

}  // namespace hocket
