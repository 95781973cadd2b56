#pragma once
/// Schedules of which any part follows from formulae, without the rest.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket {

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

}  // namespace hocket
