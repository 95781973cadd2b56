#pragma once
/// Scattering where no place may be taken twice.
#include <cstddef>
#include <cstdint>
#include <span>

namespace hocket {

/// to[offset[i]] = from[i] and a bit of `taken` for each place, of which it has one per place, in words of 64. Returns
/// how many elements came before the first whose place was taken already; that one and the rest are left. Places may
/// be anywhere in memory: lines are fetched ahead.
std::size_t scatter_once(std::size_t width, const std::byte* from, std::span<const std::uint32_t> offset, std::byte* to,
                         std::span<std::uint64_t> taken);
std::size_t scatter_once(std::size_t width, const std::byte* from, std::span<const std::uint64_t> offset, std::byte* to,
                         std::span<std::uint64_t> taken);

/// Scatters without checking for repeated places, and sets takes[offset[i]] = 1. `takes` has bytes, not bits, so that
/// entries are written without being read.
void scatter_marking(std::size_t width, const std::byte* from, std::span<const std::uint32_t> offset, std::byte* to,
                     std::span<std::uint8_t> takes);
void scatter_marking(std::size_t width, const std::byte* from, std::span<const std::uint64_t> offset, std::byte* to,
                     std::span<std::uint8_t> takes);

}  // namespace hocket
