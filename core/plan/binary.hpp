#pragma once
/// Bytes in and out: little-endian fixed fields, LEB128 numbers, checksums. Readers trust nothing.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace hocket {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

/// 64-bit FNV-1a over words: every step is a bijection, so one altered word always shows.
[[nodiscard]] inline std::uint64_t checksum(ByteView bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u ^ bytes.size();
  while (!bytes.empty()) {
    const std::size_t n = std::min<std::size_t>(bytes.size(), 8);
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < n; ++i) word |= std::uint64_t{bytes[i]} << 8 * i;
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;
    bytes = bytes.subspan(n);
  }
  return hash;
}

/// Well-formed: no stray or missing continuation bytes, overlong forms, surrogates, or more than 21 bits.
[[nodiscard]] inline bool is_utf8(ByteView text) {
  while (!text.empty()) {
    const std::uint8_t lead = text[0];
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || text.size() < length) return false;
    for (std::size_t i = 1; i < length; ++i)
      if ((text[i] & 0xc0) != 0x80) return false;
    if ((lead == 0xe0 && text[1] < 0xa0) || (lead == 0xed && text[1] > 0x9f) || (lead == 0xf0 && text[1] < 0x90) ||
        (lead == 0xf4 && text[1] > 0x8f))
      return false;
    text = text.subspan(length);
  }
  return true;
}

class ByteWriter {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::uint8_t>(value | 0x80));
    bytes_.push_back(static_cast<std::uint8_t>(value));
  }
  void fixed(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  }
  void real(double value) { fixed(std::bit_cast<std::uint64_t>(value)); }
  void text(std::string_view value) {
    number(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void append(ByteView more) { bytes_.insert(bytes_.end(), more.begin(), more.end()); }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  [[nodiscard]] Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

/// Throws PlanProblem at the first byte that is missing or too large.
class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) : bytes_(bytes) {}

  std::uint64_t number(std::uint64_t limit = ~std::uint64_t{0}) {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint8_t byte = next();
      if (shift == 63 && byte > 1) throw PlanProblem("a number is too long");
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    if (value > limit) throw PlanProblem("a number is out of range");
    return value;
  }
  std::uint32_t number32(std::uint64_t limit = ~std::uint32_t{0}) { return static_cast<std::uint32_t>(number(limit)); }
  /// A count of things that take at least `least` bytes each, so that it cannot exceed what is left.
  std::uint64_t count(std::uint64_t least = 1) { return number(bytes_.size() / least); }
  std::uint64_t fixed() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value |= std::uint64_t{next()} << 8 * i;
    return value;
  }
  double real() { return std::bit_cast<double>(fixed()); }
  std::string text() {
    const ByteView part = view(count());
    if (!is_utf8(part)) throw PlanProblem("a name is not UTF-8");
    return {part.begin(), part.end()};
  }
  ByteView view(std::uint64_t size) {
    if (size > bytes_.size()) throw PlanProblem("the file ends too early");
    const ByteView part = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return part;
  }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  std::uint8_t next() {
    if (bytes_.empty()) throw PlanProblem("the file ends too early");
    const std::uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  ByteView bytes_;
};

}  // namespace hocket
