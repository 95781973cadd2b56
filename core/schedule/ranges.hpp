#pragma once
/// Set of bytes, as ranges.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace hocket {

/// Disjoint ranges [begin, end), merged where they touch.
class Ranges {
 public:
  /// Returns how many of the bytes were there before.
  std::uint64_t add(std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return 0;
    std::uint64_t known = 0;
    auto next = end_of_.upper_bound(begin);
    if (next != end_of_.begin() && std::prev(next)->second >= begin) --next;
    while (next != end_of_.end() && next->first <= end) {
      const std::uint64_t from = std::max(begin, next->first), to = std::min(end, next->second);
      known += to > from ? to - from : 0;
      begin = std::min(begin, next->first);
      end = std::max(end, next->second);
      next = end_of_.erase(next);
    }
    end_of_.emplace_hint(next, begin, end);
    return known;
  }
  /// True of an empty range.
  [[nodiscard]] bool covers(std::uint64_t begin, std::uint64_t end) const {
    if (begin == end) return true;
    const auto next = end_of_.upper_bound(begin);
    return next != end_of_.begin() && std::prev(next)->second >= end;
  }
  /// True when some of [begin, end) is in one of the ranges.
  [[nodiscard]] bool meets(std::uint64_t begin, std::uint64_t end) const {
    if (begin == end) return false;
    const auto next = end_of_.lower_bound(end);
    return next != end_of_.begin() && std::prev(next)->second > begin;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> end_of_;  ///< end of each range, by its begin
};

}  // namespace hocket
