#pragma once
/// Findings of the verifier in a two-level exchange.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/schedule/certificate.hpp"

namespace hocket {

/// Faults of copies in the memory of hosts.
enum class MemoryFault : std::uint8_t {
  misplaced,      ///< a rank is on no host, on two, or named where there is none
  beyond_memory,  ///< a copy ends behind the memory of its host, or that is larger than allowed
  written_twice,  ///< two copies into one place
  not_written,    ///< a copy of what is not there yet
  other_bytes,    ///< a copy of other bytes than it should
  not_demanded,   ///< a copy of what nobody has asked for, or for somebody else
  taken_twice,    ///< bytes that a rank gets, or adds, more than once
  missing,        ///< bytes that never come to their target
};
inline constexpr std::size_t memory_fault_kinds = 8;

[[nodiscard]] std::string_view to_string(MemoryFault kind);

struct MemoryFinding {
  MemoryFault kind;
  std::uint64_t phase;
  std::string text;
};

struct TwoLevelCertificate {
  Certificate between;  ///< the schedule of the hosts
  std::array<std::uint64_t, memory_fault_kinds> counts{};
  std::vector<MemoryFinding> findings;  ///< the first few of each kind

  void add(MemoryFault kind, std::uint64_t phase, std::string text);
  [[nodiscard]] std::uint64_t count(MemoryFault kind) const { return counts[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] bool memory_ok() const { return std::ranges::count(counts, 0u) == std::ssize(counts); }
  [[nodiscard]] bool complete() const { return between.complete() && memory_ok(); }
  [[nodiscard]] bool ok() const { return between.ok() && memory_ok(); }
};

}  // namespace hocket
