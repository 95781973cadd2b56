#pragma once
/// Elements that permuting and sorting move about, and how keys are ordered.
#include <cstddef>
#include <cstdint>

namespace hocket {

enum class KeyType : std::uint8_t { u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64 };
inline constexpr std::size_t key_types = 11;

[[nodiscard]] std::size_t key_bytes(KeyType type);

/// Elements of `width` bytes with the key at their beginning and its payload behind it; no alignment is
/// needed. A key alone: width = key_bytes(key).
struct RecordType {
  KeyType key;
  std::size_t width;
};

/// An unsigned number of 8 * key_bytes bits that orders like the key: negative numbers first, NaN last. As in numpy's
/// sort, all NaN are equal, and so are -0.0 and 0.0; a stable sort keeps their order.
[[nodiscard]] std::uint64_t order_of(KeyType type, const std::byte* key);

/// Bits of order_of(): (order >> shift) & (2^bits - 1).
struct Digit {
  unsigned shift, bits;
};
inline constexpr unsigned most_digit_bits = 12;  ///< more buckets than fit beside each other in a second-level cache

}  // namespace hocket
