#include <algorithm>

#include "sort/core/elements/move.hpp"
#include "width.hpp"

namespace hocket {

void transpose(std::size_t width_in_bytes, const std::byte* from, std::size_t from_stride, std::size_t rows,
               std::size_t columns, std::byte* to, std::size_t to_stride) {
  constexpr std::size_t tile = 32;
  elements::with_width(width_in_bytes, [&](auto width) {
    const auto move = [&](std::size_t r0, std::size_t c0, std::size_t tile_rows, std::size_t tile_columns) {
      for (std::size_t c = c0; c < c0 + tile_columns; ++c) {
        for (std::size_t r = r0; r < r0 + tile_rows; ++r) {
          elements::copy_element(width, from + (r * from_stride + c) * width.value(),
                                 to + (c * to_stride + r) * width.value());
        }
      }
    };
    for (std::size_t r = 0; r < rows; r += tile) {
      for (std::size_t c = 0; c < columns; c += tile) {
        const std::size_t tile_rows = std::min(tile, rows - r), tile_columns = std::min(tile, columns - c);
        if (tile_rows == tile && tile_columns == tile) {
          move(r, c, tile, tile);  // the compiler knows how often
        } else {
          move(r, c, tile_rows, tile_columns);
        }
      }
    }
  });
}

}  // namespace hocket
