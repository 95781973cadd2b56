#include <algorithm>
#include <cstdint>
#include <vector>

#include "key.hpp"
#include "sort/core/elements/partition.hpp"
#include "width.hpp"

namespace hocket {

namespace {

/// Counts of one digit, in several tables in turn: a count that has just been stored can only be loaded some
/// cycles later, and equal digits often follow each other. Short numbers, so that the tables fit into the first-level
/// cache.
class Tables {
 public:
  explicit Tables(Digit digit)
      : shift_(digit.shift), buckets_(std::size_t{1} << digit.bits), counts_(number * buckets_) {}

  template <class Key, class Width>
  void count(Key key, Width width, const std::byte* record, std::size_t n) {
    const std::size_t mask = buckets_ - 1;
    std::uint32_t* const counts = counts_.data();
    const auto count_one = [&](std::size_t table) {
      ++counts[table * (mask + 1) + elements::digit_of(key.order(record + table * width.value()), shift_, mask)];
    };
    for (; n >= number; n -= number, record += number * width.value()) {
      for (std::size_t table = 0; table < number; ++table) count_one(table);
    }
    for (std::size_t table = 0; table < n; ++table) count_one(table);
  }

  /// Moves the counts to where they are wanted.
  void add_to(std::span<std::uint64_t> sums) {
    for (std::size_t table = 0; table < number; ++table)
      for (std::size_t bucket = 0; bucket < buckets_; ++bucket) sums[bucket] += counts_[table * buckets_ + bucket];
    std::ranges::fill(counts_, 0);
  }

 private:
  static constexpr std::size_t number = 4;
  unsigned shift_;
  std::size_t buckets_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace

void count_digits(RecordType type, const std::byte* records, std::size_t n, Digit digit,
                  std::span<std::uint64_t> counts) {
  count_digits(type, records, n, std::span(&digit, 1), std::span(&counts, 1));
}

void count_digits(RecordType type, const std::byte* records, std::size_t n, std::span<const Digit> digits,
                  std::span<const std::span<std::uint64_t>> counts) {
  for (const Digit digit : digits) elements::require(type, digit);
  std::vector<Tables> tables(digits.begin(), digits.end());
  const auto add_up = [&] {
    for (std::size_t d = 0; d < digits.size(); ++d) tables[d].add_to(counts[d]);
  };
  constexpr std::size_t block_bytes = 8192;           // stays in the first-level cache for all digits
  constexpr std::size_t most = std::size_t{1} << 31;  // before a short number could overflow
  const std::size_t block = std::max<std::size_t>(block_bytes / type.width, 16);
  elements::with_key(type.key, [&](auto key) {
    elements::with_width(type.width, [&](auto width) {
      for (std::size_t done = 0, begin = 0; begin < n; begin += block) {
        const std::size_t m = std::min(block, n - begin);
        for (Tables& digit : tables) digit.count(key, width, records + begin * width.value(), m);
        done += m;
        if (done >= most) {
          add_up();
          done = 0;
        }
      }
    });
  });
  add_up();
}

}  // namespace hocket
