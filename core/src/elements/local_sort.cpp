#include "hocket/elements/local_sort.hpp"

#include <cstring>
#include <utility>

#include "hocket/elements/partition.hpp"
#include "key.hpp"
#include "width.hpp"

namespace hocket {

namespace {

/// Bits in which the orders of some records differ.
std::uint64_t varying_bits(RecordType type, const std::byte* records, std::size_t n) {
  return elements::with_key(type.key, [&](auto key) -> std::uint64_t {
    const std::uint64_t first = key.order(records);
    std::uint64_t varying = 0;
    for (std::size_t i = 1; i < n; ++i) varying |= key.order(records + i * type.width) ^ first;
    return varying;
  });
}

}  // namespace

std::vector<Digit> digits_of(unsigned bits, unsigned most) {
  std::vector<Digit> digits;
  if (bits == 0) return digits;
  const unsigned number = (bits + most - 1) / most;
  for (unsigned d = 0, shift = 0; d < number; ++d) {
    const unsigned width = bits / number + (d < bits % number ? 1 : 0);
    digits.push_back({.shift = shift, .bits = width});
    shift += width;
  }
  return digits;
}

void sort_records(RecordType type, std::byte* records, std::size_t n, std::byte* scratch) {
  elements::require(type);
  if (n < 2) return;
  const std::uint64_t varying = varying_bits(type, records, n);
  const unsigned bits = static_cast<unsigned>(64 - __builtin_clzll(varying | 1));
  std::byte *from = records, *to = scratch;
  for (const Digit digit : digits_of(bits, n < 65536 ? 8 : 11)) {
    if (((varying >> digit.shift) & ((std::uint64_t{1} << digit.bits) - 1)) == 0) continue;
    std::vector<std::uint64_t> counts(std::size_t{1} << digit.bits);
    count_digits(type, from, n, digit, counts);
    std::vector<std::byte*> ends(counts.size());
    std::byte* end = to;
    for (std::size_t b = 0; b < counts.size(); ++b) {
      ends[b] = end;
      end += counts[b] * type.width;
    }
    partition(type, from, n, digit, ends);
    std::swap(from, to);
  }
  if (from != records) std::memcpy(records, from, n * type.width);
}

}  // namespace hocket
