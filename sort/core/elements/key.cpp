#include "key.hpp"

#include <string>

#include "core/error.hpp"

namespace hocket {

std::size_t key_bytes(KeyType type) {
  return elements::with_key(type, [](auto key) { return sizeof(typename decltype(key)::Order); });
}

std::uint64_t order_of(KeyType type, const std::byte* key) {
  return elements::with_key(type, [&](auto k) -> std::uint64_t { return k.order(key); });
}

void elements::require(RecordType type) {
  if (type.width < key_bytes(type.key)) {
    throw InputError("records of " + std::to_string(type.width) + " bytes cannot hold a key of " +
                     std::to_string(key_bytes(type.key)) + " bytes");
  }
}

void elements::require(RecordType type, Digit digit) {
  require(type);
  const std::size_t bits = 8 * key_bytes(type.key);
  if (digit.bits == 0 || digit.bits > most_digit_bits) {
    throw InputError("a digit has 1 to " + std::to_string(most_digit_bits) + " bits, not " +
                     std::to_string(digit.bits));
  }
  if (digit.shift >= bits || digit.bits > bits - digit.shift) {
    throw InputError("a digit of " + std::to_string(digit.bits) + " bits from bit " + std::to_string(digit.shift) +
                     " on reaches beyond a key of " + std::to_string(bits) + " bits");
  }
}

}  // namespace hocket
