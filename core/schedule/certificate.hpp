#pragma once
/// Findings of the verifier of schedules.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

}  // namespace hocket
