#pragma once
/// The order of keys as types, one per KeyType, so that kernels are compiled for each.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "sort/core/elements/record.hpp"

namespace hocket::elements {

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
