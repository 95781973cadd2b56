#pragma once
/// The verifier and its findings. It knows networks, demands and schedules, and trusts no algorithm. Schedules that go
/// round one ring are proved, and closed forms sampled, without writing them down.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/waits.hpp"

namespace hocket {

enum class Violation : std::uint8_t {
  rank_out_of_range,  ///< a transfer names a rank that the network does not have
  self_transfer,      ///< a rank sends to itself
  empty_transfer,     ///< a transfer of no bytes
  send_port,          ///< a rank sends more than its port model allows in one phase
  receive_port,       ///< a rank receives more than its port model allows in one phase
  contention,         ///< a channel carries more messages than its capacity in one phase
  not_demanded,       ///< a piece of a message that the demand does not have
  beyond_message,     ///< a piece that reaches past the end of its message
  not_held,           ///< a rank sends what it does not hold yet
  delivered_twice,    ///< bytes that arrive at their target more than once
  missing,            ///< bytes of the demand that never arrive
  wrong_ranks,        ///< schedule, demand and network disagree on the number of ranks
  unordered,          ///< two transfers share a channel and no wait orders them
  circular_wait,      ///< a transfer waits for one of its own or a later phase
};
inline constexpr std::size_t violation_kinds = 14;

struct Finding {
  Violation kind;
  std::uint64_t phase;
  std::string text;  ///< violation, ranks and channel in words
};

struct Certificate {
  std::uint64_t transfers = 0, phases = 0;
  std::array<std::uint64_t, violation_kinds> counts{};
  std::vector<Finding> findings;        ///< the first few of each kind
  std::uint64_t worst_channel_use = 0;  ///< most messages seen on one channel in one phase

  void add(Violation kind, std::uint64_t phase, std::string text);
  [[nodiscard]] std::uint64_t count(Violation kind) const { return counts[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] bool contention_free() const;  ///< no port and no channel overfull
  [[nodiscard]] bool complete() const;         ///< every byte delivered exactly once, legally
  [[nodiscard]] bool ok() const;
};

inline std::string_view to_string(Violation kind) {
  constexpr std::array<std::string_view, violation_kinds> names{
      "rank out of range",      "rank sends to itself", "transfer without bytes", "send port overfull",
      "receive port overfull",  "channel overfull",     "not demanded",           "beyond the end of the message",
      "sent before it is held", "delivered twice",      "never delivered",        "wrong number of ranks",
      "not ordered by waits",   "circular wait"};
  return names[static_cast<std::size_t>(kind)];
}

inline void Certificate::add(Violation kind, std::uint64_t phase, std::string text) {
  constexpr std::size_t findings_per_kind = 3;
  if (counts[static_cast<std::size_t>(kind)]++ < findings_per_kind) findings.push_back({kind, phase, std::move(text)});
}

inline bool Certificate::contention_free() const {
  return count(Violation::send_port) == 0 && count(Violation::receive_port) == 0 && count(Violation::contention) == 0 &&
         count(Violation::wrong_ranks) == 0;
}

inline bool Certificate::complete() const {
  for (const Violation kind : {Violation::rank_out_of_range, Violation::self_transfer, Violation::empty_transfer,
                               Violation::not_demanded, Violation::beyond_message, Violation::not_held,
                               Violation::delivered_twice, Violation::missing, Violation::wrong_ranks})
    if (count(kind) > 0) return false;
  return true;
}

inline bool Certificate::ok() const {
  return std::all_of(counts.begin(), counts.end(), [](std::uint64_t count) { return count == 0; });
}

/// one_port: a rank sends at most one and receives at most one message in a phase, or as many as its host has ports.
/// all_port: ports do not count, only channels; for blocks in parts, which are cut such that those that a rank sends at
/// once share its links.
enum class PortModel : std::uint8_t { one_port, all_port };

/// Checks every phase and every byte. In a phase a channel carries no more messages than its capacity, or blocks that
/// alone on their routes are together no faster than it. Linear in transfers × route length for direct schedules.
[[nodiscard]] Certificate verify(const Network& network, const Demand& demand, const Schedule& schedule,
                                 PortModel ports = PortModel::one_port);

/// Checks that the waits (with each sender's own order) order every two transfers of different phases
/// that are capacity · `waits.window` places apart on a channel, places taken by phase and sender, and
/// that no wait points forward. So no channel ever carries more than that many at once.
/// Where links differ in rate: that transfers which may be under way together never take more than `waits.window` times
/// a channel, each its share (network.hpp). Adds to the certificate.
void verify_waits(const Network& network, const Schedule& schedule, const Waits& waits, Certificate& certificate);

/// Follows which ranks' parts are in what each rank has added up, byte range by byte range. A transfer carries what its
/// sender had when the phase began. Sums that are added must have no rank in common; what replaces must be complete; in
/// the end the rank whose block it is has every rank's part once, and in an all-reduce everyone has. Adds to the
/// certificate; ports and channels are verify()'s. O(bytes' ranges x transfers of a block x ranks / 64).
void verify_sums(const Demand& demand, const Schedule& schedule, Certificate& certificate);

/// A wait at the turn of an all-reduce: the edge of the all-gather that begins at place `waiting` of the ring shares a
/// channel with the edge of the reduce-scatter that ends at place `releasing`. `capacity`: the least of such a channel.
struct TurnWait {
  std::uint32_t waiting, releasing, capacity;
  friend bool operator==(const TurnWait&, const TurnWait&) = default;
};

/// Result of a check of every edge of a ring.
struct RingCertificate {
  std::uint64_t edges = 0;
  std::uint64_t channels = 0;         ///< channels on their routes
  std::uint64_t collisions = 0;       ///< channels of a route that another edge uses
  std::uint64_t missing = 0;          ///< ranks that the ring does not visit, or visits twice
  std::uint64_t unordered = 0;        ///< channels that both halves of an all-reduce use, without a wait between
  std::vector<std::string> findings;  ///< the first of them

  [[nodiscard]] bool contention_free() const { return collisions == 0 && unordered == 0; }
  [[nodiscard]] bool complete() const { return missing == 0; }
  [[nodiscard]] bool ok() const { return contention_free() && complete(); }
};

/// An all-gather in which every rank hands a block to the next in `order` in each phase, its own first and then what
/// has come in, a reduce-scatter that does the same backwards, or an all-reduce that does both. All phases of a half
/// use the same edges, so one look at each proves all transfers; at the turn `waits`, sorted, must keep them apart.
/// Linear in the routes. Throws InputError for ranks that there are not, and for other patterns.
[[nodiscard]] RingCertificate verify_ring(const Network& network, std::span<const Rank> order, Pattern pattern,
                                          std::span<const TurnWait> waits = {});

struct SampleCertificate {
  std::uint64_t messages = 0;         ///< drawn
  std::uint64_t channels = 0;         ///< channels on their routes, each checked
  std::uint64_t collisions = 0;       ///< messages that do not have a channel or a port to themselves
  std::uint64_t unordered = 0;        ///< messages whose tokens do not keep them behind those before them
  std::vector<std::string> findings;  ///< the first few

  [[nodiscard]] bool ok() const { return collisions == 0 && unordered == 0; }
};

/// Draws messages, with repetition. For each, on every channel of its route (by the network) and at both ports, it asks
/// the inverted closed form which message is there in the phase that the formula gives. The answer can name one message
/// only, so of two that meet at least one is found out, whether the inversion is right or not: if nothing is found in n
/// draws, fewer than 6 in n messages meet another, with a probability of 95 %. Then it checks the tokens: each
/// neighbour in time must name the message in turn, and release it at the right one of its sends. Equal seeds draw
/// equal messages.
[[nodiscard]] SampleCertificate verify_sample(const Network& network, const ClosedForm& form, std::uint64_t messages,
                                              std::uint64_t seed = 1);

}  // namespace hocket
