#include "sort/core/elements/move.hpp"

#include <algorithm>
#include <cstring>

#include "width.hpp"

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

template <class Index>
void scatter_by(std::size_t width_in_bytes, const std::byte* from, std::span<const Index> index, std::byte* to) {
  elements::with_width(width_in_bytes, [&](auto width) {
    const auto place = [&](std::size_t i) { return to + static_cast<std::size_t>(index[i]) * width.value(); };
    move_indexed(
        index.size(), [&](std::size_t i) { prefetch<1>(width, place(i)); },
        [&](std::size_t i) { elements::copy_element(width, from + i * width.value(), place(i)); });
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
    const auto place = [&](std::size_t i) { return from + static_cast<std::size_t>(index[i]) * width.value(); };
    move_indexed(
        index.size(), [&](std::size_t i) { prefetch<0>(width, place(i)); },
        [&](std::size_t i) { elements::copy_element(width, place(i), to + i * width.value()); });
  });
}

void scatter(std::size_t width, const std::byte* from, std::span<const std::int64_t> index, std::byte* to) {
  scatter_by(width, from, index, to);
}

void scatter(std::size_t width, const std::byte* from, std::span<const std::uint32_t> index, std::byte* to) {
  scatter_by(width, from, index, to);
}

}  // namespace hocket
