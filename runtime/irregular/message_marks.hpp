#pragma once
/// Messages that no rank knows all of, compared by sums over all ranks.
#include <cstdint>

namespace hocket::runtime {

/// The finaliser of splitmix64 (Steele, Lea and Flood, 2014).
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// A number for a message between the ranks that `key` stands for. Sums of them, modulo 2^64, are equal where the
/// messages are, in any order; of others by a chance of 2^-64.
[[nodiscard]] constexpr std::uint64_t mark(std::uint64_t key, std::uint64_t size) { return mixed(mixed(key) ^ size); }

}  // namespace hocket::runtime
