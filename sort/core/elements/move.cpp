#include "sort/core/elements/move.hpp"

#include <algorithm>

#include "sort/core/elements/width.hpp"

namespace hocket {
namespace {

/// Elements that are on their way from or to memory at a time: more than a processor would find by itself.
constexpr std::size_t ahead = 32;

/// Tells the processor which element comes soon; its second cache line, too, if it may have one.
template <int for_writing, class Width>
inline void prefetch(Width width, const std::byte* element) {
  __builtin_prefetch(element, for_writing);
  if constexpr (!Width::divides_lines) __builtin_prefetch(element + width.value() - 1, for_writing);
}

/// move(i) for all i below n, and soon(i) `ahead` elements before.
template <class Soon, class Move>
inline void move_indexed(std::size_t n, Soon soon, Move move) {
  const std::size_t with_next = n > ahead ? n - ahead : 0;
  for (std::size_t i = 0; i < with_next; ++i) {
    soon(i + ahead);
    move(i);
  }
  for (std::size_t i = with_next; i < n; ++i) move(i);
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
    const auto place = [&](std::size_t i) { return from + static_cast<std::size_t>(index[i]) * width.value(); };
    move_indexed(
        index.size(), [&](std::size_t i) { prefetch<0>(width, place(i)); },
        [&](std::size_t i) { elements::copy_element(width, place(i), to + i * width.value()); });
  });
}

void scatter(std::size_t width_in_bytes, const std::byte* from, std::span<const std::int64_t> index, std::byte* to) {
  elements::with_width(width_in_bytes, [&](auto width) {
    const auto place = [&](std::size_t i) { return to + static_cast<std::size_t>(index[i]) * width.value(); };
    move_indexed(
        index.size(), [&](std::size_t i) { prefetch<1>(width, place(i)); },
        [&](std::size_t i) { elements::copy_element(width, from + i * width.value(), place(i)); });
  });
}

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

// Elements: the latency of memory, or of a second-level cache, over the time that one takes. Stores go to the cache
// one after the other: fetching lines ahead halves their time even where they are near.
constexpr std::size_t ahead_far = 24, ahead_near = 16;

template <class Offset>
std::size_t scatter_once(std::size_t width_in_bytes, const std::byte* from, std::span<const Offset> offset,
                         std::byte* to, std::span<std::uint64_t> taken) {
  return elements::with_width(width_in_bytes, [&](auto width) {
    for (std::size_t i = 0; i < offset.size(); ++i) {
      const std::size_t later = offset[std::min(i + ahead_far, offset.size() - 1)];
      __builtin_prefetch(to + later * width.value(), 1);
      __builtin_prefetch(&taken[later / 64], 1);
      const std::size_t place = offset[i];
      const std::uint64_t bit = std::uint64_t{1} << (place % 64);
      if (taken[place / 64] & bit) return i;
      taken[place / 64] |= bit;
      elements::copy_element(width, from + i * width.value(), to + place * width.value());
    }
    return offset.size();
  });
}

template <class Offset>
void scatter_marking(std::size_t width_in_bytes, const std::byte* from, std::span<const Offset> offset, std::byte* to,
                     std::span<std::uint8_t> takes) {
  elements::with_width(width_in_bytes, [&](auto width) {
    for (std::size_t i = 0; i < offset.size(); ++i) {
      const std::size_t later = offset[std::min(i + ahead_near, offset.size() - 1)];
      __builtin_prefetch(to + later * width.value(), 1);
      __builtin_prefetch(&takes[later], 1);
      const std::size_t place = offset[i];
      elements::copy_element(width, from + i * width.value(), to + place * width.value());
      takes[place] = 1;
    }
  });
}

template std::size_t scatter_once(std::size_t, const std::byte*, std::span<const std::uint32_t>, std::byte*,
                                  std::span<std::uint64_t>);
template std::size_t scatter_once(std::size_t, const std::byte*, std::span<const std::uint64_t>, std::byte*,
                                  std::span<std::uint64_t>);
template void scatter_marking(std::size_t, const std::byte*, std::span<const std::uint32_t>, std::byte*,
                              std::span<std::uint8_t>);
template void scatter_marking(std::size_t, const std::byte*, std::span<const std::uint64_t>, std::byte*,
                              std::span<std::uint8_t>);

/// f(width of keys, width of payloads), where the compiler knows them if they are common ones.
template <class F>
static void with_widths(std::size_t key_width, std::size_t payload_width, F f) {
  elements::with_width(key_width,
                       [&](auto key) { elements::with_width(payload_width, [&](auto payload) { f(key, payload); }); });
}

void pack(std::size_t key_width, const std::byte* keys, std::size_t payload_width, const std::byte* payload,
          std::size_t n, std::byte* records) {
  with_widths(key_width, payload_width, [&](auto key, auto data) {
    for (std::size_t i = 0; i < n; ++i) {
      std::byte* const record = records + i * (key.value() + data.value());
      elements::copy_element(key, keys + i * key.value(), record);
      elements::copy_element(data, payload + i * data.value(), record + key.value());
    }
  });
}

void unpack(std::size_t key_width, std::byte* keys, std::size_t payload_width, std::byte* payload, std::size_t n,
            const std::byte* records) {
  with_widths(key_width, payload_width, [&](auto key, auto data) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::byte* const record = records + i * (key.value() + data.value());
      elements::copy_element(key, record, keys + i * key.value());
      elements::copy_element(data, record + key.value(), payload + i * data.value());
    }
  });
}

}  // namespace hocket
