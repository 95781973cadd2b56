#include "hocket/elements/partition.hpp"

#include "key.hpp"
#include "width.hpp"

namespace hocket {

void partition(RecordType type, const std::byte* records, std::size_t n, Digit digit, std::span<std::byte*> to) {
  elements::require(type, digit);
  const std::size_t mask = (std::size_t{1} << digit.bits) - 1;
  elements::with_key(type.key, [&](auto key) {
    elements::with_width(type.width, [&](auto width) {
      const std::byte* record = records;
      for (std::size_t i = 0; i < n; ++i, record += width.value()) {
        std::byte*& end = to[elements::digit_of(decltype(key)::order(record), digit.shift, mask)];
        elements::copy_element(width, record, end);
        end += width.value();
      }
    });
  });
}

void partition(std::size_t width_in_bytes, const std::byte* records, std::size_t n, std::span<const std::uint16_t> part,
               std::span<std::byte*> to) {
  elements::with_width(width_in_bytes, [&](auto width) {
    const std::byte* record = records;
    for (std::size_t i = 0; i < n; ++i, record += width.value()) {
      std::byte*& end = to[part[i]];
      elements::copy_element(width, record, end);
      end += width.value();
    }
  });
}

}  // namespace hocket
