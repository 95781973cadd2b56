#include "core/schedule/certificate.hpp"

#include <algorithm>
#include <utility>

namespace hocket {

std::string_view to_string(Violation kind) {
  switch (kind) {
    case Violation::rank_out_of_range:
      return "rank out of range";
    case Violation::self_transfer:
      return "rank sends to itself";
    case Violation::empty_transfer:
      return "transfer without bytes";
    case Violation::send_port:
      return "send port overfull";
    case Violation::receive_port:
      return "receive port overfull";
    case Violation::contention:
      return "channel overfull";
    case Violation::not_demanded:
      return "not demanded";
    case Violation::beyond_message:
      return "beyond the end of the message";
    case Violation::not_held:
      return "sent before it is held";
    case Violation::delivered_twice:
      return "delivered twice";
    case Violation::missing:
      return "never delivered";
    case Violation::wrong_ranks:
      return "wrong number of ranks";
    case Violation::unordered:
      return "not ordered by waits";
    case Violation::circular_wait:
      return "circular wait";
  }
  return "?";
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
