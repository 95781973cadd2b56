#include <algorithm>

#include "hocket/elements/move.hpp"
#include "width.hpp"

namespace hocket {

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
