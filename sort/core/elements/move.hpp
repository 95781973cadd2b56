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
/// The overload for 32-bit indices, such as offsets in a rank's own part.
void scatter(std::size_t width, const std::byte* from, std::span<const std::uint32_t> index, std::byte* to);

/// The transpose of a matrix of `rows` x `columns`: to[c][r] = from[r][c]. Strides are in elements from one row
/// to the next. Works tile by tile, so that both sides use whole cache lines.
void transpose(std::size_t width, const std::byte* from, std::size_t from_stride, std::size_t rows, std::size_t columns,
               std::byte* to, std::size_t to_stride);

}  // namespace hocket
