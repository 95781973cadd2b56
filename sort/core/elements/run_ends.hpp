#pragma once
/// Positions in a first-level cache of the ends of runs to which records are appended.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hocket {

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

}  // namespace hocket
