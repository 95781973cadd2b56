#pragma once
/// The digits of a radix sort.
#include <cstdint>
#include <optional>
#include <vector>

#include "sort/core/elements/record.hpp"

namespace hocket {

/// The digits that cover all bits of `varying`, least significant first: as few as digits of at most `most` bits
/// allow, and then as narrow as that many allow. Bits in which keys do not differ are left out where they lie between
/// digits. One digit if no bit varies.
[[nodiscard]] std::vector<Digit> digits_over(std::uint64_t varying, unsigned most);

/// The highest `bits` bits up to the last of `varying`, which is not 0.
[[nodiscard]] Digit highest_digit(std::uint64_t varying, unsigned bits);

struct RadixDigits {
  std::vector<Digit> all;        ///< least significant first
  std::optional<Digit> highest;  ///< to begin with, where keys spread evenly over its buckets
};

}  // namespace hocket
