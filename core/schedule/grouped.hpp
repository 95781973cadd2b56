#pragma once
/// Numbers in groups.
#include <cstdint>
#include <span>
#include <vector>

namespace hocket {

/// Lists of numbers, one list per key, in one block of memory.
struct Grouped {
  std::vector<std::uint64_t> begin;
  std::vector<std::uint32_t> items;

  [[nodiscard]] std::span<const std::uint32_t> of(std::uint64_t key) const {
    if (begin.empty()) return {};
    return {items.data() + begin[key], items.data() + begin[key + 1]};
  }
};

/// Groups (key, item) pairs by key, keys below `keys`. `for_each_pair(visit)` calls visit(key, item) for each, twice in
/// the same order, which a list keeps.
template <class ForEachPair>
[[nodiscard]] Grouped group(std::uint64_t keys, ForEachPair for_each_pair) {
  Grouped grouped;
  grouped.begin.assign(keys + 1, 0);
  for_each_pair([&](std::uint64_t key, std::uint32_t) { ++grouped.begin[key + 1]; });
  for (std::uint64_t key = 0; key < keys; ++key) grouped.begin[key + 1] += grouped.begin[key];
  grouped.items.resize(grouped.begin.back());
  std::vector<std::uint64_t> fill(grouped.begin.begin(), grouped.begin.end() - 1);
  for_each_pair([&](std::uint64_t key, std::uint32_t item) { grouped.items[fill[key]++] = item; });
  return grouped;
}

}  // namespace hocket
