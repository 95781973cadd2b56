#include "sort/core/elements/partition.hpp"

#include "sort/core/elements/append.hpp"
#include "sort/core/elements/width.hpp"

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
    for (; n >= number; n -= number, record += number * width.value())
      for (std::size_t table = 0; table < number; ++table) count_one(table);
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

/// The number of ascending bounds that are at most `order`. Branch-free, because branches on unsorted keys are
/// mispredicted.
static inline std::size_t reached(const std::uint64_t* bounds, std::size_t n, std::uint64_t order) {
  const std::uint64_t* begin = bounds;
  while (n > 1) {
    const std::size_t half = n / 2;
    begin += static_cast<std::size_t>(begin[half - 1] <= order) * half;
    n -= half;
  }
  return static_cast<std::size_t>(begin - bounds) + (n == 1 ? static_cast<std::size_t>(*begin <= order) : 0);
}

/// The least order that is not before a splitter if it is that of rank `rank`'s element `index`; as equal keys are
/// divided by rank and index, either the splitter's order or the one behind it. False: there is none.
static bool bound_at(const Splitter& splitter, std::uint64_t rank, std::uint64_t index, std::uint64_t& bound) {
  const bool not_before = rank != splitter.rank ? rank > splitter.rank : index >= splitter.index;
  bound = splitter.order + (not_before ? 0 : 1);
  return not_before || bound != 0;
}

void classify(RecordType type, const std::byte* records, std::size_t n, std::uint64_t rank, std::uint64_t first,
              std::span<const Splitter> splitters, std::span<std::uint16_t> part) {
  elements::require(type);
  // Between the indices that splitters name on this rank, keys alone decide.
  std::vector<std::size_t> ends{n};
  for (const Splitter& s : splitters)
    if (s.rank == rank && s.index > first && s.index - first < n) ends.push_back(s.index - first);
  std::ranges::sort(ends);
  std::vector<std::uint64_t> bounds;
  for (std::size_t begin = 0; const std::size_t end : ends) {
    bounds.clear();
    for (const Splitter& s : splitters) {
      std::uint64_t bound = 0;
      if (!bound_at(s, rank, first + begin, bound)) break;
      bounds.push_back(bound);
    }
    elements::with_key(type.key, [&](auto key) {
      elements::with_width(type.width, [&](auto width) {
        for (std::size_t i = begin; i < end; ++i) {
          const std::uint64_t order = key.order(records + i * width.value());
          part[i] = static_cast<std::uint16_t>(reached(bounds.data(), bounds.size(), order));
        }
      });
    });
    begin = end;
  }
}

}  // namespace hocket
