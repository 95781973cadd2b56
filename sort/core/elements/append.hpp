#pragma once
/// Appending records to many runs. Few lines of many runs stay in the first-level cache, and every line of a run that
/// is not in any cache is read only to be written; therefore records are collected in a buffer per run, and leave it in
/// whole cache lines by stores that go round the caches (as Satish et al., SIGMOD 2010, and Polychroniou and Ross,
/// SIGMOD 2014, do it). Runs in the second-level cache need that only where they crowd (runs_crowd()), and stay there.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "width.hpp"

namespace hocket::elements {

/// True if so many runs end in the same sets of a first-level cache that lines are evicted before they are full. Dense
/// keys cause this, because all buckets have the same size. False for more than 256 runs: buffers for all of them would
/// not stay in the cache either. A run that ends where the next one does is taken to be empty.
[[nodiscard]] inline bool runs_crowd(std::span<std::byte* const> ends) {
  // 32 KiB of 8 ways or 48 KiB of 12: lines at the same place of a page. Some ways are for what else is at work.
  constexpr std::size_t line = 64, sets = 64, ways = 6, most_runs = 256;
  if (ends.size() > most_runs) return false;
  std::array<std::uint16_t, sets> in_set{};
  std::size_t runs = 0, crowded = 0;
  for (std::size_t run = 0; run < ends.size(); ++run) {
    if (run + 1 < ends.size() && ends[run + 1] == ends[run]) continue;
    ++runs;
    if (in_set[reinterpret_cast<std::uintptr_t>(ends[run]) / line % sets]++ >= ways) ++crowded;
  }
  return 4 * crowded > runs;
}

[[nodiscard]] inline std::size_t offset_in(std::size_t size, const std::byte* at) {
  return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(at) % size);
}

/// Record by record. bucket_of(record, i) is the run of record i.
template <class Width, class BucketOf>
void append_directly(Width width, const std::byte* record, std::size_t n, std::span<std::byte*> to,
                     BucketOf bucket_of) {
  for (std::size_t i = 0; i < n; ++i, record += width.value()) {
    std::byte*& end = to[bucket_of(record, i)];
    copy_element(width, record, end);
    end += width.value();
  }
}

/// Appends records whose width divides a cache line, to runs that begin at multiples of the width. The last byte of a
/// buffer says how much of it is in use, as long as the last record is not there; with two lines instead of one, half
/// as many branches are predicted wrongly.
template <std::size_t width, class BucketOf>
void append_aligned(const std::byte* record, std::size_t n, std::span<std::byte*> to, BucketOf bucket_of) {
  constexpr std::size_t size = 2 * LineBuffers::line;
  const LineBuffers memory(to.size() * size);
  std::byte* const buffers = memory.get();
  std::vector<std::uint8_t> before(to.size());  // bytes of the first lines that are not the run's
  for (std::size_t b = 0; b < to.size(); ++b) {
    before[b] = static_cast<std::uint8_t>(offset_in(size, to[b]));
    to[b] -= before[b];
    buffers[b * size + size - 1] = std::byte{before[b]};
  }
  for (std::size_t i = 0; i < n; ++i, record += width) {
    const std::size_t bucket = bucket_of(record, i);
    std::byte* const buffer = buffers + bucket * size;
    const auto used = static_cast<std::size_t>(buffer[size - 1]);
    if (used != size - width) [[likely]] {
      std::memcpy(buffer + used, record, width);
      buffer[size - 1] = static_cast<std::byte>(used + width);
      continue;
    }
    std::byte* const line = to[bucket];
    if (before[bucket] == 0) [[likely]] {
      stream_with_last<width, size>(line, buffer, record);
    } else {
      std::memcpy(buffer + used, record, width);
      std::memcpy(line + before[bucket], buffer + before[bucket], size - before[bucket]);
      before[bucket] = 0;
    }
    buffer[size - 1] = std::byte{0};
    to[bucket] = line + size;
  }
  for (std::size_t b = 0; b < to.size(); ++b) {
    const std::byte* const buffer = buffers + b * size;
    const auto used = static_cast<std::size_t>(buffer[size - 1]);
    std::memcpy(to[b] + before[b], buffer + before[b], used - before[b]);
    to[b] += used;
  }
  end_of_streams();
}

/// Appends records of at most one cache line to runs at any address. The part of a record beyond the line written is
/// carried over to the next one.
template <class Width, class BucketOf>
void append_anywhere(Width width, const std::byte* record, std::size_t n, std::span<std::byte*> to,
                     BucketOf bucket_of) {
  constexpr std::size_t line_size = LineBuffers::line, size = 2 * line_size;
  const LineBuffers memory(to.size() * size);
  std::byte* const buffers = memory.get();
  std::vector<std::uint8_t> used(to.size()), before(to.size());
  for (std::size_t b = 0; b < to.size(); ++b) {
    used[b] = before[b] = static_cast<std::uint8_t>(offset_in(line_size, to[b]));
    to[b] -= before[b];
  }
  for (std::size_t i = 0; i < n; ++i, record += width.value()) {
    const std::size_t bucket = bucket_of(record, i);
    std::byte* const buffer = buffers + bucket * size;
    copy_element(width, record, buffer + used[bucket]);
    const std::size_t now = used[bucket] + width.value();
    used[bucket] = static_cast<std::uint8_t>(now % line_size);
    if (now < line_size) continue;
    std::byte* const line = to[bucket];
    if (before[bucket] == 0) [[likely]] {
      stream(line, buffer, line_size);
    } else {
      std::memcpy(line + before[bucket], buffer + before[bucket], line_size - before[bucket]);
      before[bucket] = 0;
    }
    std::memcpy(buffer, buffer + line_size, line_size);
    to[bucket] = line + line_size;
  }
  for (std::size_t b = 0; b < to.size(); ++b) {
    std::memcpy(to[b] + before[b], buffers + b * size + before[b], used[b] - before[b]);
    to[b] += used[b];
  }
  end_of_streams();
}

/// Appends to runs that crowd in a first-level cache: a few records of each run are collected in buffers that do not
/// crowd. As above, the last of them is written directly to the run, and the last byte of a buffer holds the number of
/// bytes in use.
template <class Width, class BucketOf>
void append_together(Width width, const std::byte* record, std::size_t n, std::span<std::byte*> to,
                     BucketOf bucket_of) {
  // Bytes, so few that buffers of as many runs as can crowd leave room for what else is at work.
  constexpr std::size_t size = (Width::divides_lines ? 2 : 3) * LineBuffers::line / 2;
  const std::size_t collected = (std::max<std::size_t>(size / width.value(), 1) - 1) * width.value();
  const LineBuffers memory(to.size() * size);
  std::byte* const buffers = memory.get();
  for (std::size_t b = 0; b < to.size(); ++b) buffers[b * size + size - 1] = std::byte{0};
  for (std::size_t i = 0; i < n; ++i, record += width.value()) {
    const std::size_t bucket = bucket_of(record, i);
    std::byte* const buffer = buffers + bucket * size;
    const auto used = static_cast<std::size_t>(buffer[size - 1]);
    if (used != collected) [[likely]] {
      copy_element(width, record, buffer + used);
      buffer[size - 1] = static_cast<std::byte>(used + width.value());
      continue;
    }
    std::byte*& end = to[bucket];
    std::memcpy(end, buffer, collected);
    copy_element(width, record, end + collected);
    end += collected + width.value();
    buffer[size - 1] = std::byte{0};
  }
  for (std::size_t b = 0; b < to.size(); ++b) {
    const std::byte* const buffer = buffers + b * size;
    const auto used = static_cast<std::size_t>(buffer[size - 1]);
    std::memcpy(to[b], buffer, used);
    to[b] += used;
  }
}

/// Appends every record at to[bucket_of(record, i)], which moves on behind it, as it is fastest.
template <class Width, class BucketOf>
void append(Width width, const std::byte* records, std::size_t n, std::span<std::byte*> to, BucketOf bucket_of) {
  constexpr std::size_t cached = std::size_t{1} << 20;  // with as much again for the target, in a second-level cache
  constexpr std::size_t line = LineBuffers::line, some_lines = 8 * line;
  const std::size_t bytes = n * width.value();
  if (bytes < to.size() * some_lines || width.value() > line || (bytes <= cached && !runs_crowd(to)))
    return append_directly(width, records, n, to, bucket_of);
  if (bytes <= cached) return append_together(width, records, n, to, bucket_of);
  if constexpr (Width::divides_lines)
    if (std::ranges::all_of(to, [&](const std::byte* end) { return offset_in(width.value(), end) == 0; }))
      return append_aligned<width.value()>(records, n, to, bucket_of);
  append_anywhere(width, records, n, to, bucket_of);
}

}  // namespace hocket::elements
