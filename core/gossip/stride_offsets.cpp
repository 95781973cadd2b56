#include "core/gossip/stride_offsets.hpp"

#include <bit>

namespace hocket::gossip {
namespace {

void or_left(std::uint64_t* out, const std::uint64_t* in, const std::uint64_t* mask, std::uint64_t words,
             std::uint64_t by) {
  const std::uint64_t whole = by / 64, bits = by % 64;
  if (whole >= words) return;
  if (bits == 0) {
    for (std::uint64_t i = whole; i < words; ++i) out[i] |= in[i - whole] & mask[i];
    return;
  }
  out[whole] |= (in[0] << bits) & mask[whole];
  for (std::uint64_t i = whole + 1; i < words; ++i)
    out[i] |= ((in[i - whole] << bits) | (in[i - whole - 1] >> (64 - bits))) & mask[i];
}

void or_right(std::uint64_t* out, const std::uint64_t* in, const std::uint64_t* not_mask, std::uint64_t words,
              std::uint64_t by) {
  const std::uint64_t whole = by / 64, bits = by % 64;
  if (whole >= words) return;
  const std::uint64_t last = words - 1 - whole;
  if (bits == 0) {
    for (std::uint64_t i = 0; i <= last; ++i) out[i] |= in[i + whole] & ~not_mask[i];
    return;
  }
  for (std::uint64_t i = 0; i < last; ++i)
    out[i] |= ((in[i + whole] >> bits) | (in[i + whole + 1] << (64 - bits))) & ~not_mask[i];
  out[last] |= (in[words - 1] >> bits) & ~not_mask[last];
}

}  // namespace

OffsetSpace::OffsetSpace(std::vector<std::uint32_t> sides) : sides_(std::move(sides)), strides_(sides_.size()) {
  for (std::size_t axis = sides_.size(); axis-- > 0;) {
    strides_[axis] = size_;
    size_ *= sides_[axis];
  }
  words_ = (size_ + 63) / 64;
  for (const std::uint32_t side : sides_) at_least_.emplace_back(side);
}

Bits OffsetSpace::origin() const {
  Bits bits(words_);
  bits[0] = 1;
  return bits;
}

const Bits& OffsetSpace::at_least(std::uint32_t axis, std::uint32_t s) {
  Bits& bits = at_least_[axis][s];
  if (!bits.empty()) return bits;
  bits.resize(words_);
  const std::uint32_t stride = strides_[axis], period = stride * sides_[axis];
  for (std::uint32_t base = 0; base < size_; base += period)
    for (std::uint32_t x = base + s * stride; x < base + period; ++x) bits[x / 64] |= std::uint64_t{1} << x % 64;
  return bits;
}

void OffsetSpace::add_shifted(Bits& out, const Bits& in, std::uint32_t axis, std::uint32_t s) {
  const Bits& mask = at_least(axis, s);
  const std::uint64_t stride = strides_[axis];
  or_left(out.data(), in.data(), mask.data(), words_, s * stride);
  or_right(out.data(), in.data(), mask.data(), words_, (sides_[axis] - s) * stride);
}

void OffsetSpace::add_both(Bits& out, const Bits& in, std::uint32_t axis, std::uint32_t s) {
  add_shifted(out, in, axis, s);
  if (2 * s != sides_[axis]) add_shifted(out, in, axis, sides_[axis] - s);
}

std::uint32_t count(const Bits& bits) {
  std::uint32_t sum = 0;
  for (const std::uint64_t word : bits) sum += static_cast<std::uint32_t>(std::popcount(word));
  return sum;
}

}  // namespace hocket::gossip
