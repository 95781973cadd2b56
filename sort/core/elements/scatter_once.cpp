#include "sort/core/elements/scatter_once.hpp"

#include <algorithm>

#include "width.hpp"

namespace hocket {
namespace {

// Elements: the latency of memory, or of a second-level cache, over the time that one takes. Stores go to the cache
// one after the other: fetching lines ahead halves their time even where they are near.
constexpr std::size_t ahead_far = 24, ahead_near = 16;

template <class Offset>
std::size_t scatter_once_by(std::size_t width_in_bytes, const std::byte* from, std::span<const Offset> offset,
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
void scatter_marking_by(std::size_t width_in_bytes, const std::byte* from, std::span<const Offset> offset,
                        std::byte* to, std::span<std::uint8_t> takes) {
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

}  // namespace

std::size_t scatter_once(std::size_t width, const std::byte* from, std::span<const std::uint32_t> offset, std::byte* to,
                         std::span<std::uint64_t> taken) {
  return scatter_once_by(width, from, offset, to, taken);
}

std::size_t scatter_once(std::size_t width, const std::byte* from, std::span<const std::uint64_t> offset, std::byte* to,
                         std::span<std::uint64_t> taken) {
  return scatter_once_by(width, from, offset, to, taken);
}

void scatter_marking(std::size_t width, const std::byte* from, std::span<const std::uint32_t> offset, std::byte* to,
                     std::span<std::uint8_t> takes) {
  scatter_marking_by(width, from, offset, to, takes);
}

void scatter_marking(std::size_t width, const std::byte* from, std::span<const std::uint64_t> offset, std::byte* to,
                     std::span<std::uint8_t> takes) {
  scatter_marking_by(width, from, offset, to, takes);
}

}  // namespace hocket
