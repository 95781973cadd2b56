#pragma once
/// Which digits a radix sort goes through.
#include <cstdint>
#include <vector>

#include "hocket/elements/record.hpp"

namespace hocket::runtime {

/// The digits that cover all bits of `varying`, least significant first: as few as digits of at most `most` bits
/// allow, and then as narrow as that many allow. Bits in which keys do not differ are left out where they lie between
/// digits. One digit if no bit varies.
[[nodiscard]] std::vector<Digit> digits_over(std::uint64_t varying, unsigned most);

}  // namespace hocket::runtime
