#pragma once
/// Moving elements between contiguous, strided and indexed places: the basic transfers xCy of the copy-transfer
/// model (Stricker and Gross, ISCA 1995) as code. Elements of any width; 1, 2, 4, 8 and 16 bytes are fastest.
#include <cstddef>
#include <cstdint>
#include <span>

namespace hocket {

/// 1C1. The ranges must not overlap.
void copy(const std::byte* from, std::byte* to, std::size_t bytes);

/// sCs; strides are in elements. With stride 1 on one side: sC1 and 1Cs.
void copy_strided(std::size_t width, const std::byte* from, std::size_t from_stride, std::byte* to,
                  std::size_t to_stride, std::size_t n);

/// Indexed read: to[i] = from[index[i]].
void gather(std::size_t width, const std::byte* from, std::span<const std::int64_t> index, std::byte* to);

/// Indexed write: to[index[i]] = from[i].
void scatter(std::size_t width, const std::byte* from, std::span<const std::int64_t> index, std::byte* to);

/// The transpose of a matrix of `rows` x `columns`: to[c][r] = from[r][c]. Strides are in elements from one row
/// to the next. Works tile by tile, so that both sides use whole cache lines.
void transpose(std::size_t width, const std::byte* from, std::size_t from_stride, std::size_t rows, std::size_t columns,
               std::byte* to, std::size_t to_stride);

/// to[offset[i]] = from[i] and a bit of `taken` for each place, of which it has one per place, in words of 64. Returns
/// how many elements came before the first whose place was taken already; that one and the rest are left. Places may
/// be anywhere in memory: lines are fetched ahead.
template <class Offset>
std::size_t scatter_once(std::size_t width, const std::byte* from, std::span<const Offset> offset, std::byte* to,
                         std::span<std::uint64_t> taken);

/// Scatters without checking for repeated places, and sets takes[offset[i]] = 1. `takes` has bytes, not bits, so that
/// entries are written without being read.
template <class Offset>
void scatter_marking(std::size_t width, const std::byte* from, std::span<const Offset> offset, std::byte* to,
                     std::span<std::uint8_t> takes);

/// n records: a key of key_width bytes and payload_width bytes of payload behind it.
void pack(std::size_t key_width, const std::byte* keys, std::size_t payload_width, const std::byte* payload,
          std::size_t n, std::byte* records);
void unpack(std::size_t key_width, std::byte* keys, std::size_t payload_width, std::byte* payload, std::size_t n,
            const std::byte* records);

}  // namespace hocket
