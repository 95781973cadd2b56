#pragma once
/// The verifier of exchanges in two levels. It trusts neither who laid out the memory nor who made the schedule: it
/// follows every byte through the memory of the hosts, with its origin.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/network/network.hpp"
#include "core/schedule/verify.hpp"
#include "core/schedule/waits.hpp"
#include "core/two_level/exchange.hpp"

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

namespace hocket::two_level_check {

/// Memory in which every place is written at most once.
class MemoryTrace {
 public:
  MemoryTrace(const std::vector<std::uint64_t>& bytes, std::uint64_t bound, TwoLevelCertificate& certificate);

  /// `stage`: 0 before anything is carried; phase + 1 by a message. A piece that a rank put.
  void put(std::uint32_t host, std::uint64_t at, const Piece& piece, std::uint64_t stage = 0);
  /// Records the bytes that a message brings from the memory of `src`.
  void carry(std::uint32_t src, std::uint32_t dst, const Carry& carry, std::uint64_t stage);
  /// Ends the writing, and finds what was written twice.
  void close();

  /// Calls visit(offset, piece) for the parts of [at, at + length), pieces cut to what lies there. Only what was
  /// written before `stage` counts. Returns false if some of it was not.
  template <class Visit>
  bool trace(std::uint32_t host, std::uint64_t at, std::uint64_t length, std::uint64_t stage, Visit visit) const {
    return trace_from(host, at, length, stage, at, visit);
  }
  /// True if all of the range was written before `stage`.
  [[nodiscard]] bool written(std::uint32_t host, std::uint64_t at, std::uint64_t length, std::uint64_t stage) const;

 private:
  struct Write {
    std::uint64_t begin, end, stage;
    bool carried;
    std::uint32_t src;   ///< carried: the host that it came from
    std::uint64_t from;  ///< carried: its place there
    Piece piece;         ///< put
  };

  void add(std::uint32_t host, Write write);
  /// The first write that ends behind `at`.
  [[nodiscard]] std::size_t find(std::uint32_t host, std::uint64_t at) const;

  template <class Visit>
  bool trace_from(std::uint32_t host, std::uint64_t at, std::uint64_t length, std::uint64_t stage, std::uint64_t asked,
                  Visit visit) const {
    const std::uint64_t end = at + length;
    for (std::size_t i = find(host, at); at < end; ++i) {
      if (i == writes_[host].size() || writes_[host][i].begin > at || writes_[host][i].stage >= stage) return false;
      const Write& write = writes_[host][i];
      const std::uint64_t skipped = at - write.begin, bytes = (write.end < end ? write.end : end) - at;
      if (!write.carried) {
        Piece piece = write.piece;
        piece.offset += skipped;
        piece.length = bytes;
        visit(asked, piece);
      } else if (!trace_from(write.src, write.from + skipped, bytes, write.stage, asked, visit)) {
        return false;  // stages fall: this ends
      }
      at += bytes;
      asked += bytes;
    }
    return true;
  }

  std::vector<std::uint64_t> bytes_;
  std::vector<std::vector<Write>> writes_;
  TwoLevelCertificate& certificate_;
};

}  // namespace hocket::two_level_check

namespace hocket {

/// `between`: the network with one rank a host. `waits`: of the schedule; null: phases are kept apart. `bound`: bytes
/// of memory that a host may use.
///
/// - Every rank is on one host, once.
/// - Between hosts no port and no channel is overfull in a phase, or ever under the waits; every aggregate comes, once.
/// - No copy goes beyond the memory of its host, and none into a place that has been written to. So what a place holds
///   does not depend on when it is read, if it has been written before.
/// - What a message takes has been written in an earlier phase.
/// - Every byte that a rank takes is traced back to the rank that put it; it must be the byte that is asked for. All
///   that is demanded is taken, once.
/// - Of an all-reduce: each byte of a host's sum has been added once of every rank of the host, the sums of all hosts
///   are added once (verify_sums), and every rank takes the whole vector.
[[nodiscard]] TwoLevelCertificate verify_two_level(const Network& between, const TwoLevelExchange& exchange,
                                                   const Waits* waits, std::uint64_t bound,
                                                   PortModel ports = PortModel::one_port);

}  // namespace hocket
