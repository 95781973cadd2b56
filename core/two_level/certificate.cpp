#include "core/two_level/certificate.hpp"

#include <utility>

namespace hocket {

std::string_view to_string(MemoryFault kind) {
  switch (kind) {
    case MemoryFault::misplaced:
      return "rank not on one host";
    case MemoryFault::beyond_memory:
      return "beyond the memory of the host";
    case MemoryFault::written_twice:
      return "two copies into one place";
    case MemoryFault::not_written:
      return "copied before it is there";
    case MemoryFault::other_bytes:
      return "copy of other bytes";
    case MemoryFault::not_demanded:
      return "copy not demanded";
    case MemoryFault::taken_twice:
      return "taken twice";
    case MemoryFault::missing:
      return "never taken";
  }
  return "?";
}

void TwoLevelCertificate::add(MemoryFault kind, std::uint64_t phase, std::string text) {
  constexpr std::size_t findings_per_kind = 3;
  if (counts[static_cast<std::size_t>(kind)]++ < findings_per_kind) findings.push_back({kind, phase, std::move(text)});
}

}  // namespace hocket
