#include "sort/core/elements/digits.hpp"

#include <algorithm>
#include <bit>

namespace hocket {
namespace {

std::vector<Digit> cover(std::uint64_t varying, unsigned bits) {
  std::vector<Digit> digits;
  while (varying != 0) {
    const auto shift = static_cast<unsigned>(std::countr_zero(varying));
    const auto left = static_cast<unsigned>(std::bit_width(varying)) - shift;
    digits.push_back({shift, std::min(bits, left)});
    if (left <= bits) break;
    varying &= ~std::uint64_t{0} << (shift + bits);
  }
  return digits;
}

}  // namespace

std::vector<Digit> digits_over(std::uint64_t varying, unsigned most) {
  if (varying == 0) return {{0, 1}};
  std::vector<Digit> digits = cover(varying, most);
  for (unsigned bits = most - 1; bits > 0; --bits) {
    std::vector<Digit> narrower = cover(varying, bits);
    if (narrower.size() > digits.size()) break;
    digits = std::move(narrower);
  }
  return digits;
}

Digit highest_digit(std::uint64_t varying, unsigned bits) {
  const auto width = static_cast<unsigned>(std::bit_width(varying));
  return {width - std::min(bits, width), std::min(bits, width)};
}

}  // namespace hocket
