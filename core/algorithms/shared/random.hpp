#pragma once
/// Random numbers that are the same on every machine.
#include <cstdint>
#include <span>
#include <utility>

namespace hocket::algorithms {

/// xorshift64 (Marsaglia, 2003).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u | 1u) {}
  /// Uniform in [0, limit), limit > 0: the high bits, without a division.
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>((next() >> 32) * limit >> 32); }
  /// Uniform in [0, limit), limit > 0, by remainder: other numbers than below() gives. The seeds that the
  /// product algorithm keeps were found with these.
  std::uint32_t remainder(std::uint64_t limit) { return static_cast<std::uint32_t>((next() >> 11) % limit); }
  /// Puts the items into a random order (Fisher and Yates).
  template <class T>
  void shuffle(std::span<T> items) {
    for (auto left = static_cast<std::uint32_t>(items.size()); left > 1; --left)
      std::swap(items[left - 1], items[below(left)]);
  }

 private:
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

  std::uint64_t state_;
};

}  // namespace hocket::algorithms
