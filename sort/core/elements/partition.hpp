#pragma once
/// Work on a rank's own records: counting and dividing them by bucket (steps 1 and 5 of the radix sort of Stricker and
/// Hardwick), and sorting.
#include <cstddef>
#include <cstdint>
#include <span>

#include "sort/core/elements/record.hpp"

namespace hocket {

/// counts[d] += records whose digit is d. 2^digit.bits counts. Throws InputError if the digit has more than
/// most_digit_bits, or reaches beyond the key.
void count_digits(RecordType type, const std::byte* records, std::size_t n, Digit digit,
                  std::span<std::uint64_t> counts);

/// counts[i] += records by digits[i], for all digits in one pass over the records.
void count_digits(RecordType type, const std::byte* records, std::size_t n, std::span<const Digit> digits,
                  std::span<const std::span<std::uint64_t>> counts);

/// Stable. Appends every record at to[digit], which moves on behind it. Runs must not overlap each other or the
/// records. Writes are combined to whole cache lines, so that many buckets cost little more than few.
void partition(RecordType type, const std::byte* records, std::size_t n, Digit digit, std::span<std::byte*> to);

/// A place between elements in sorted order: before the `index`-th element of rank `rank` among equal keys.
/// Positions make all elements different, so that equal keys can be divided anywhere.
struct Splitter {
  std::uint64_t order;  ///< order_of() the key
  std::uint64_t rank, index;
};

/// Computes the part of each record: the number of splitters that are not after it. The records belong to rank `rank`
/// and begin with its `first`-th. Splitters ascend; at most 65,535.
void classify(RecordType type, const std::byte* records, std::size_t n, std::uint64_t rank, std::uint64_t first,
              std::span<const Splitter> splitters, std::span<std::uint16_t> part);

/// Moves the records to their parts, stably: record i to part[i].
void partition(std::size_t width, const std::byte* records, std::size_t n, std::span<const std::uint16_t> part,
               std::span<std::byte*> to);

/// Stable sort by key, in place; `scratch` has room for as many records. Least significant digit first; digits
/// that are the same in all records are left out.
void sort_records(RecordType type, std::byte* records, std::size_t n, std::byte* scratch);

/// True if sort_records() sorts keys of 32 and 64 bits without payload by vector instructions (AVX-512).
[[nodiscard]] bool has_vector_sort();

namespace elements {

/// Sorts unsigned numbers of `Number` at any address, in place; not stable, which numbers do not show. `scratch` has
/// room for as many. False: pivots were so bad that it has given up, and the numbers are in some other order.
template <class Number>
[[nodiscard]] bool vector_sort(std::byte* numbers, std::size_t n, std::byte* scratch);

extern template bool vector_sort<std::uint32_t>(std::byte*, std::size_t, std::byte*);
extern template bool vector_sort<std::uint64_t>(std::byte*, std::size_t, std::byte*);

}  // namespace elements

}  // namespace hocket
