#pragma once
/// Elements that permuting and sorting move about: how keys are ordered, and their digits.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
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

namespace hocket::elements {

// The order of keys as types, one per KeyType, so that kernels are compiled for each.

/// A value at any address.
template <class T>
[[nodiscard]] inline T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
inline constexpr T top_bit = static_cast<T>(T{1} << (std::numeric_limits<T>::digits - 1));

/// Integer keys. For signed types the sign bit is inverted, so that negative numbers come first.
template <class Bits>
struct IntegerKey {
  using Order = Bits;
  [[nodiscard]] Order order(const std::byte* key) const { return static_cast<Bits>(load<Bits>(key) ^ turned); }
  /// The bits of the key that has this order.
  [[nodiscard]] Bits bits(Order order) const { return static_cast<Bits>(order ^ turned); }
  [[nodiscard]] bool is_order() const { return turned == 0; }
  Bits turned;
};

/// IEEE 754 keys; `infinity` has all exponent bits set. All bits of negative numbers are inverted. Branch-free.
template <class Bits, Bits infinity>
struct FloatKey {
  using Order = Bits;
  [[nodiscard]] Order order(const std::byte* key) const {
    constexpr Bits sign = top_bit<Bits>;
    const Bits bits = load<Bits>(key);
    const Bits negative =
        static_cast<Bits>(Bits{0} - static_cast<Bits>(bits >> (std::numeric_limits<Bits>::digits - 1)));
    const Bits turned = static_cast<Bits>(bits ^ (negative | sign));
    const Bits positive_zero = static_cast<Bits>(turned + (bits == sign));  // -0.0 would be the one before
    const Bits not_a_number =
        static_cast<Bits>(Bits{0} - static_cast<Bits>(static_cast<Bits>(bits & ~sign) > infinity));
    return static_cast<Bits>(positive_zero | not_a_number);
  }
  /// The bits of the key with this order; where several have it, of the one that is neither NaN nor -0.0.
  [[nodiscard]] Bits bits(Order order) const {
    const Bits positive =
        static_cast<Bits>(Bits{0} - static_cast<Bits>(order >> (std::numeric_limits<Bits>::digits - 1)));
    return static_cast<Bits>(order ^ (static_cast<Bits>(~positive) | top_bit<Bits>));
  }
  [[nodiscard]] static constexpr bool is_order() { return false; }
};

/// f(key) with a key of the type for `type`.
template <class F>
decltype(auto) with_key(KeyType type, F&& f) {
  using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;
  switch (type) {
    case KeyType::u8:
      return f(IntegerKey<uint8_t>{0});
    case KeyType::u16:
      return f(IntegerKey<uint16_t>{0});
    case KeyType::u32:
      return f(IntegerKey<uint32_t>{0});
    case KeyType::u64:
      return f(IntegerKey<uint64_t>{0});
    case KeyType::i8:
      return f(IntegerKey<uint8_t>{top_bit<uint8_t>});
    case KeyType::i16:
      return f(IntegerKey<uint16_t>{top_bit<uint16_t>});
    case KeyType::i32:
      return f(IntegerKey<uint32_t>{top_bit<uint32_t>});
    case KeyType::i64:
      return f(IntegerKey<uint64_t>{top_bit<uint64_t>});
    case KeyType::f16:
      return f(FloatKey<uint16_t, 0x7C00>{});
    case KeyType::f32:
      return f(FloatKey<uint32_t, 0x7F80'0000>{});
    case KeyType::f64:
      return f(FloatKey<uint64_t, 0x7FF0'0000'0000'0000>{});
  }
  __builtin_unreachable();
}

/// The digit of an order.
template <class Order>
[[nodiscard]] inline std::size_t digit_of(Order order, unsigned shift, std::size_t mask) {
  return static_cast<std::size_t>(order >> shift) & mask;
}

/// Throws InputError unless the key fits into the record.
void require(RecordType type);
/// Throws InputError unless the digit lies within the key.
void require(RecordType type, Digit digit);

}  // namespace hocket::elements
