#include "sort/core/elements/key_bits.hpp"

#include <algorithm>

#include "key.hpp"
#include "width.hpp"

namespace hocket {
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
