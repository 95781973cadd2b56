#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "record.hpp"
#include "sort/core/elements/partition.hpp"

namespace hocket {
namespace {

constexpr std::size_t few = 48;            // records that are sorted by insertion
constexpr unsigned narrow = 8, wide = 11;  // bits of digits for records in a second-level cache, and in memory
constexpr std::size_t cached = std::size_t{1} << 20;

template <class Key>
class LocalSort {
 public:
  LocalSort(Key key, RecordType type) : key_(key), type_(type) {}

  void sort(std::byte* records, std::size_t n, std::byte* scratch) const {
    if (n <= few) return insert(records, n, scratch);
    const std::uint64_t varying = varying_bits(records, n);
    if (varying == 0) return;
    const unsigned end = static_cast<unsigned>(std::bit_width(varying));
    unsigned begin = static_cast<unsigned>(std::countr_zero(varying));
    // The highest bits decide nearly always if there are a few more of them than it takes to number the records.
    const unsigned enough = static_cast<unsigned>(std::bit_width(n)) + 4;
    const bool all = end - begin <= enough + narrow / 2;
    if (!all) begin = end - enough;
    sort_by_digits(records, n, scratch, varying >> begin << begin);
    if (!all) sort_equals(records, n, scratch, begin);
  }

 private:
  [[nodiscard]] std::byte* at(std::byte* records, std::size_t i) const { return records + i * type_.width; }
  [[nodiscard]] std::uint64_t order(const std::byte* records, std::size_t i) const {
    return key_.order(records + i * type_.width);
  }

  void insert(std::byte* records, std::size_t n, std::byte* scratch) const {
    std::array<std::pair<std::uint64_t, std::size_t>, few> sorted;  // order, place
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t own = order(records, i);
      std::size_t to = i;
      for (; to > 0 && sorted[to - 1].first > own; --to) sorted[to] = sorted[to - 1];
      sorted[to] = {own, i};
    }
    for (std::size_t i = 0; i < n; ++i) std::memcpy(at(scratch, i), at(records, sorted[i].second), type_.width);
    if (n > 0) std::memcpy(records, scratch, n * type_.width);
  }

  /// Bits in which the orders of some records differ.
  [[nodiscard]] std::uint64_t varying_bits(const std::byte* records, std::size_t n) const {
    const std::uint64_t first = order(records, 0);
    std::uint64_t varying = 0;
    for (std::size_t i = 1; i < n; ++i) varying |= order(records, i) ^ first;
    return varying;
  }

  /// Radix sort by the bits of the order that are set in `varying`.
  void sort_by_digits(std::byte* records, std::size_t n, std::byte* scratch, std::uint64_t varying) const {
    // Two wide digits end where they began, three narrow ones have to be copied back.
    std::vector<Digit> digits = digits_over(varying, wide);
    if (n * type_.width <= cached && digits.size() > 2) digits = digits_over(varying, narrow);
    std::vector<std::vector<std::uint64_t>> counts;
    for (const Digit digit : digits) counts.emplace_back(std::size_t{1} << digit.bits);
    count_digits(type_, records, n, digits, std::vector<std::span<std::uint64_t>>(counts.begin(), counts.end()));

    std::byte *from = records, *to = scratch;
    std::vector<std::byte*> ends;
    for (std::size_t d = 0; d < digits.size(); ++d) {
      ends.clear();
      std::byte* end = to;
      for (const std::uint64_t count : counts[d]) {
        ends.push_back(end);
        end += count * type_.width;
      }
      partition(type_, from, n, digits[d], ends);
      std::swap(from, to);
    }
    if (from != records) std::memcpy(records, from, n * type_.width);
  }

  /// Records that are sorted by their bits from `sorted_from` on.
  void sort_equals(std::byte* records, std::size_t n, std::byte* scratch, unsigned sorted_from) const {
    for (std::size_t begin = 0, end = 1; begin < n; begin = end, ++end) {
      const std::uint64_t high = order(records, begin) >> sorted_from;
      while (end < n && order(records, end) >> sorted_from == high) ++end;
      if (end - begin > 1) sort(at(records, begin), end - begin, at(scratch, begin));
    }
  }

  Key key_;
  RecordType type_;
};

/// True if every key can be recovered from its order, so that equal keys are identical.
template <class Key>
bool are_numbers(Key key, const std::byte* keys, std::size_t n) {
  using Order = typename Key::Order;
  Order differing = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::byte* const at = keys + i * sizeof(Order);
    differing = static_cast<Order>(differing | (key.bits(key.order(at)) ^ elements::load<Order>(at)));
  }
  return differing == 0;
}

template <class Order, class Change>
void change_each(std::byte* keys, std::size_t n, Change change) {
  for (std::size_t i = 0; i < n; ++i) {
    const Order changed = change(keys + i * sizeof(Order));
    std::memcpy(keys + i * sizeof(Order), &changed, sizeof changed);
  }
}

/// Keys alone that are sorted as the numbers which are their orders.
template <class Key>
void sort_numbers(Key key, std::byte* keys, std::size_t n, std::byte* scratch) {
  using Order = typename Key::Order;
  if (!key.is_order()) change_each<Order>(keys, n, [&](const std::byte* at) { return key.order(at); });
  if (!elements::vector_sort<Order>(keys, n, scratch)) {
    constexpr KeyType type = sizeof(Order) == 4 ? KeyType::u32 : KeyType::u64;
    LocalSort(elements::IntegerKey<Order>{0}, {type, sizeof(Order)}).sort(keys, n, scratch);
  }
  if (!key.is_order())
    change_each<Order>(keys, n, [&](const std::byte* at) { return key.bits(elements::load<Order>(at)); });
}

}  // namespace

void sort_records(RecordType type, std::byte* records, std::size_t n, std::byte* scratch) {
  elements::require(type);
  elements::with_key(type.key, [&](auto key) {
    using Order = typename decltype(key)::Order;
    if constexpr (sizeof(Order) >= 4) {
      if (type.width == sizeof(Order) && has_vector_sort() && are_numbers(key, records, n))
        return sort_numbers(key, records, n, scratch);
    }
    LocalSort(key, type).sort(records, n, scratch);
  });
}

}  // namespace hocket
