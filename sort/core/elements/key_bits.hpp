#pragma once
/// The bits in which keys differ: digits that are the same in all keys need no sorting.
#include <cstddef>
#include <cstdint>

#include "sort/core/elements/record.hpp"

namespace hocket {

struct KeyBits {
  std::uint64_t ones = 0;   ///< bits that are set in the order of some key
  std::uint64_t zeros = 0;  ///< bits that are not set in the order of some key

  [[nodiscard]] std::uint64_t varying() const { return ones & zeros; }
};

/// The bits of order_of() over the keys of all records. Stops early once every bit varies.
[[nodiscard]] KeyBits key_bits(RecordType type, const std::byte* records, std::size_t n);

}  // namespace hocket
