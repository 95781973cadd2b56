#include "runtime/two_level/rows.hpp"

#include <cstring>
#include <limits>
#include <numeric>

namespace hocket::runtime {
namespace {

std::size_t width_of(std::size_t data) {
  if (data == 0) return 0;
  if (data <= std::numeric_limits<std::uint8_t>::max()) return 1;
  return data <= std::numeric_limits<std::uint16_t>::max() ? 2 : 4;
}

template <class Number>
std::byte* put(std::byte* at, std::span<const std::size_t> lengths) {
  Number end = 0;
  for (const std::size_t length : lengths) {
    end = static_cast<Number>(end + length);
    std::memcpy(at, &end, sizeof end);
    at += sizeof end;
  }
  return at;
}

template <class Number>
std::size_t get(const std::byte* at) {
  Number number = 0;
  std::memcpy(&number, at, sizeof number);
  return number;
}

}  // namespace

std::size_t row_bytes(std::size_t ranks, std::size_t data) { return 1 + width_of(data) * ranks + data; }

std::byte* begin_row(std::byte* at, std::span<const std::size_t> lengths) {
  const std::size_t width = width_of(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}));
  *at++ = static_cast<std::byte>(width);
  if (width == 0) return at;
  if (width == 1) return put<std::uint8_t>(at, lengths);
  return width == 2 ? put<std::uint16_t>(at, lengths) : put<std::uint32_t>(at, lengths);
}

Row::Row(std::byte* at, std::size_t room, std::size_t ranks) : at_(at) {
  if (room > 0) width_ = static_cast<std::size_t>(*at);
  head_ = bytes_ = 1 + width_ * ranks;
  if (width_ > 4 || width_ == 3)
    bytes_ = std::numeric_limits<std::size_t>::max();
  else if (head_ <= room && ranks > 0)
    bytes_ += end_of(ranks - 1);
}

std::size_t Row::end_of(std::size_t place) const {
  const std::byte* const at = at_ + 1 + width_ * place;
  if (width_ == 0) return 0;
  if (width_ == 1) return get<std::uint8_t>(at);
  return width_ == 2 ? get<std::uint16_t>(at) : get<std::uint32_t>(at);
}

Span Row::message(std::size_t place) const {
  const std::size_t begin = place > 0 ? end_of(place - 1) : 0, end = end_of(place);
  if (begin > end || head_ + end > bytes_) return {};
  return {at_ + head_ + begin, end - begin};
}

}  // namespace hocket::runtime
