#pragma once
/// Elements that permuting and sorting move about: how keys are ordered, and their digits.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

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

/// The digits that cover all bits of `varying`, least significant first: as few as digits of at most `most` bits
/// allow, and then as narrow as that many allow. Bits in which keys do not differ are left out where they lie between
/// digits. One digit if no bit varies.
[[nodiscard]] std::vector<Digit> digits_over(std::uint64_t varying, unsigned most);

/// The highest `bits` bits up to the last of `varying`, which is not 0.
[[nodiscard]] Digit highest_digit(std::uint64_t varying, unsigned bits);

struct RadixDigits {
  std::vector<Digit> all;        ///< least significant first
  std::optional<Digit> highest;  ///< to begin with, where keys spread evenly over its buckets
};

struct KeyBits {
  std::uint64_t ones = 0;   ///< bits that are set in the order of some key
  std::uint64_t zeros = 0;  ///< bits that are not set in the order of some key
};

/// The bits of order_of() over the keys of all records. Stops early once every bit varies.
[[nodiscard]] KeyBits key_bits(RecordType type, const std::byte* records, std::size_t n);

}  // namespace hocket
