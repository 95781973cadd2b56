#include "sort/core/elements/record.hpp"

#include <bit>

#include "core/error.hpp"
#include "sort/core/elements/width.hpp"

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

static std::vector<Digit> cover(std::uint64_t varying, unsigned bits) {
  std::vector<Digit> digits;
  while (varying != 0) {
    const auto shift = static_cast<unsigned>(std::countr_zero(varying));
    const auto left = static_cast<unsigned>(std::bit_width(varying)) - shift;
    digits.push_back({shift, std::min(bits, left)});
    if (left <= bits) break;
    varying &= ~std::uint64_t{0} << (shift + bits);
  }
  return digits;
}

std::vector<Digit> digits_over(std::uint64_t varying, unsigned most) {
  if (varying == 0) return {{0, 1}};
  std::vector<Digit> digits = cover(varying, most);
  for (unsigned bits = most - 1; bits > 0; --bits) {
    std::vector<Digit> narrower = cover(varying, bits);
    if (narrower.size() > digits.size()) break;
    digits = std::move(narrower);
  }
  return digits;
}

Digit highest_digit(std::uint64_t varying, unsigned bits) {
  const auto width = static_cast<unsigned>(std::bit_width(varying));
  return {width - std::min(bits, width), std::min(bits, width)};
}

namespace {

constexpr std::size_t block = 1024;  ///< records between two looks at whether every bit varies

template <class Key, class Width>
KeyBits bits_of(Key key, Width width, const std::byte* records, std::size_t n) {
  using Order = typename Key::Order;
  Order ones = 0, zeros = 0;
  for (std::size_t begin = 0; begin < n && static_cast<Order>(~(ones & zeros)) != 0; begin += block) {
    const std::byte* const from = records + begin * width.value();
    const std::size_t here = std::min(block, n - begin);
    for (std::size_t i = 0; i < here; ++i) {
      const Order order = key.order(from + i * width.value());
      ones = static_cast<Order>(ones | order);
      zeros = static_cast<Order>(zeros | static_cast<Order>(~order));
    }
  }
  return {ones, zeros};
}

}  // namespace

KeyBits key_bits(RecordType type, const std::byte* records, std::size_t n) {
  elements::require(type);
  return elements::with_key(type.key, [&](auto key) {
    return elements::with_width(type.width, [&](auto width) { return bits_of(key, width, records, n); });
  });
}

}  // namespace hocket
