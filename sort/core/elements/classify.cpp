#include <algorithm>
#include <vector>

#include "key.hpp"
#include "sort/core/elements/partition.hpp"
#include "width.hpp"

namespace hocket {

namespace {

/// The number of ascending bounds that are at most `order`. Branch-free, because branches on unsorted keys are
/// mispredicted.
[[nodiscard]] inline std::size_t reached(const std::uint64_t* bounds, std::size_t n, std::uint64_t order) {
  const std::uint64_t* begin = bounds;
  while (n > 1) {
    const std::size_t half = n / 2;
    begin += static_cast<std::size_t>(begin[half - 1] <= order) * half;
    n -= half;
  }
  return static_cast<std::size_t>(begin - bounds) + (n == 1 ? static_cast<std::size_t>(*begin <= order) : 0);
}

/// The least order that is not before a splitter if it is that of rank `rank`'s element `index`; as equal keys are
/// divided by rank and index, either the splitter's order or the one behind it. False: there is none.
[[nodiscard]] bool bound_at(const Splitter& splitter, std::uint64_t rank, std::uint64_t index, std::uint64_t& bound) {
  const bool not_before = rank != splitter.rank ? rank > splitter.rank : index >= splitter.index;
  bound = splitter.order + (not_before ? 0 : 1);
  return not_before || bound != 0;
}

}  // namespace

void classify(RecordType type, const std::byte* records, std::size_t n, std::uint64_t rank, std::uint64_t first,
              std::span<const Splitter> splitters, std::span<std::uint16_t> part) {
  elements::require(type);
  // Between the indices that splitters name on this rank, keys alone decide.
  std::vector<std::size_t> ends{n};
  for (const Splitter& s : splitters) {
    if (s.rank == rank && s.index > first && s.index - first < n) ends.push_back(s.index - first);
  }
  std::ranges::sort(ends);
  std::vector<std::uint64_t> bounds;
  for (std::size_t begin = 0; const std::size_t end : ends) {
    bounds.clear();
    for (const Splitter& s : splitters) {
      std::uint64_t bound = 0;
      if (!bound_at(s, rank, first + begin, bound)) break;
      bounds.push_back(bound);
    }
    elements::with_key(type.key, [&](auto key) {
      elements::with_width(type.width, [&](auto width) {
        for (std::size_t i = begin; i < end; ++i) {
          const std::uint64_t order = key.order(records + i * width.value());
          part[i] = static_cast<std::uint16_t>(reached(bounds.data(), bounds.size(), order));
        }
      });
    });
    begin = end;
  }
}

}  // namespace hocket
