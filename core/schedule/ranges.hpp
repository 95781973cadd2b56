#pragma once
/// Set of bytes, as ranges.
#include <cstdint>
#include <map>

namespace hocket {

/// Disjoint ranges [begin, end), merged where they touch.
class Ranges {
 public:
  /// Returns how many of the bytes were there before.
  std::uint64_t add(std::uint64_t begin, std::uint64_t end);
  /// True of an empty range.
  [[nodiscard]] bool covers(std::uint64_t begin, std::uint64_t end) const;
  /// True when some of [begin, end) is in one of the ranges.
  [[nodiscard]] bool meets(std::uint64_t begin, std::uint64_t end) const;

 private:
  std::map<std::uint64_t, std::uint64_t> end_of_;  ///< end of each range, by its begin
};

}  // namespace hocket
