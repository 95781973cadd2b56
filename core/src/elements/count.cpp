#include "hocket/elements/partition.hpp"
#include "key.hpp"
#include "width.hpp"

namespace hocket {

void count_digits(RecordType type, const std::byte* records, std::size_t n, Digit digit,
                  std::span<std::uint64_t> counts) {
  count_digits(type, records, n, std::span(&digit, 1), std::span(&counts, 1));
}

void count_digits(RecordType type, const std::byte* records, std::size_t n, std::span<const Digit> digits,
                  std::span<const std::span<std::uint64_t>> counts) {
  for (const Digit digit : digits) elements::require(type, digit);
  elements::with_key(type.key, [&](auto key) {
    elements::with_width(type.width, [&](auto width) {
      for (std::size_t i = 0; i < n; ++i) {
        const auto order = key.order(records + i * width.value());
        for (std::size_t d = 0; d < digits.size(); ++d) {
          ++counts[d][elements::digit_of(order, digits[d].shift, (std::size_t{1} << digits[d].bits) - 1)];
        }
      }
    });
  });
}

}  // namespace hocket
