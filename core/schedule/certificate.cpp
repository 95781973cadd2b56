#include "core/schedule/certificate.hpp"

#include <algorithm>
#include <utility>

namespace hocket {

std::string_view to_string(Violation kind) {
  constexpr std::array<std::string_view, violation_kinds> names{
      "rank out of range",      "rank sends to itself", "transfer without bytes", "send port overfull",
      "receive port overfull",  "channel overfull",     "not demanded",           "beyond the end of the message",
      "sent before it is held", "delivered twice",      "never delivered",        "wrong number of ranks",
      "not ordered by waits",   "circular wait"};
  return names[static_cast<std::size_t>(kind)];
}

void Certificate::add(Violation kind, std::uint64_t phase, std::string text) {
  constexpr std::size_t findings_per_kind = 3;
  if (counts[static_cast<std::size_t>(kind)]++ < findings_per_kind) findings.push_back({kind, phase, std::move(text)});
}

bool Certificate::contention_free() const {
  return count(Violation::send_port) == 0 && count(Violation::receive_port) == 0 && count(Violation::contention) == 0 &&
         count(Violation::wrong_ranks) == 0;
}

bool Certificate::complete() const {
  for (const Violation kind : {Violation::rank_out_of_range, Violation::self_transfer, Violation::empty_transfer,
                               Violation::not_demanded, Violation::beyond_message, Violation::not_held,
                               Violation::delivered_twice, Violation::missing, Violation::wrong_ranks})
    if (count(kind) > 0) return false;
  return true;
}

bool Certificate::ok() const {
  return std::all_of(counts.begin(), counts.end(), [](std::uint64_t count) { return count == 0; });
}

}  // namespace hocket
