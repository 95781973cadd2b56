#pragma once
/// Contents of the hosts' memory, place by place, with the origin of each.
#include <cstdint>
#include <string>
#include <vector>

#include "core/two_level/certificate.hpp"
#include "core/two_level/exchange.hpp"

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
