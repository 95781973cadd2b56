#pragma once
/// Random numbers that are the same on every machine.
#include <cstdint>

namespace hocket::product {

/// xorshift64 (Marsaglia, 2003).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u | 1u) {}
  /// Uniform in [0, n), n > 0.
  std::uint32_t below(std::uint64_t n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::uint32_t>((state_ >> 11) % n);
  }

 private:
  std::uint64_t state_;
};

}  // namespace hocket::product
