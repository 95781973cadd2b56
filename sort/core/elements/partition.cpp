#include "sort/core/elements/partition.hpp"

#include "append.hpp"
#include "key.hpp"
#include "width.hpp"

namespace hocket {

void partition(RecordType type, const std::byte* records, std::size_t n, Digit digit, std::span<std::byte*> to) {
  elements::require(type, digit);
  const std::size_t mask = (std::size_t{1} << digit.bits) - 1;
  elements::with_key(type.key, [&](auto key) {
    const auto bucket_of = [key, mask, shift = digit.shift](const std::byte* record, std::size_t) {
      return elements::digit_of(key.order(record), shift, mask);
    };
    elements::with_width(type.width, [&](auto width) { elements::append(width, records, n, to, bucket_of); });
  });
}

void partition(std::size_t width_in_bytes, const std::byte* records, std::size_t n, std::span<const std::uint16_t> part,
               std::span<std::byte*> to) {
  const auto bucket_of = [parts = part.data()](const std::byte*, std::size_t i) { return std::size_t{parts[i]}; };
  elements::with_width(width_in_bytes, [&](auto width) { elements::append(width, records, n, to, bucket_of); });
}

}  // namespace hocket
