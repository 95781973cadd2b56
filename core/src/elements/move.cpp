#include "hocket/elements/move.hpp"

#include <algorithm>
#include <cstring>

#include "width.hpp"

namespace hocket {

namespace {

template <class Index>
void scatter_by(std::size_t width_in_bytes, const std::byte* from, std::span<const Index> index, std::byte* to) {
  elements::with_width(width_in_bytes, [&](auto width) {
    for (std::size_t i = 0; i < index.size(); ++i) {
      elements::copy_element(width, from + i * width.value(), to + static_cast<std::size_t>(index[i]) * width.value());
    }
  });
}

}  // namespace

void copy(const std::byte* from, std::byte* to, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void copy_strided(std::size_t width_in_bytes, const std::byte* from, std::size_t from_stride, std::byte* to,
                  std::size_t to_stride, std::size_t n) {
  elements::with_width(width_in_bytes, [&](auto width) {
    for (std::size_t i = 0; i < n; ++i) {
      elements::copy_element(width, from + i * from_stride * width.value(), to + i * to_stride * width.value());
    }
  });
}

void gather(std::size_t width_in_bytes, const std::byte* from, std::span<const std::int64_t> index, std::byte* to) {
  elements::with_width(width_in_bytes, [&](auto width) {
    for (std::size_t i = 0; i < index.size(); ++i) {
      elements::copy_element(width, from + static_cast<std::size_t>(index[i]) * width.value(), to + i * width.value());
    }
  });
}

void scatter(std::size_t width, const std::byte* from, std::span<const std::int64_t> index, std::byte* to) {
  scatter_by(width, from, index, to);
}

void scatter(std::size_t width, const std::byte* from, std::span<const std::uint32_t> index, std::byte* to) {
  scatter_by(width, from, index, to);
}

void transpose(std::size_t width_in_bytes, const std::byte* from, std::size_t from_stride, std::size_t rows,
               std::size_t columns, std::byte* to, std::size_t to_stride) {
  constexpr std::size_t tile = 32;
  elements::with_width(width_in_bytes, [&](auto width) {
    for (std::size_t r0 = 0; r0 < rows; r0 += tile) {
      for (std::size_t c0 = 0; c0 < columns; c0 += tile) {
        for (std::size_t c = c0; c < std::min(columns, c0 + tile); ++c) {
          for (std::size_t r = r0; r < std::min(rows, r0 + tile); ++r) {
            elements::copy_element(width, from + (r * from_stride + c) * width.value(),
                                   to + (c * to_stride + r) * width.value());
          }
        }
      }
    }
  });
}

}  // namespace hocket
