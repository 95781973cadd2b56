#include "sort/mpi/sort/divide.hpp"

#include <algorithm>

namespace hocket::sort {
namespace {

constexpr std::uint64_t block = 1 << 14;  ///< elements that are counted while they are in the cache

/// Two counters for each part: the same one twice in a row would wait for itself.
void count_parts(std::span<const std::uint16_t> parts, std::span<std::uint64_t> even, std::span<std::uint64_t> odd) {
  std::size_t i = 0;
  for (; i + 1 < parts.size(); i += 2) {
    ++even[parts[i]];
    ++odd[parts[i + 1]];
  }
  if (i < parts.size()) ++even[parts[i]];
}

/// The first of the sorted records that is not before this place.
std::uint64_t first_behind(RecordType type, const std::byte* sorted, std::uint64_t count, std::uint64_t rank,
                           const Splitter& splitter) {
  std::uint64_t begin = 0, end = count;
  while (begin < end) {
    const std::uint64_t middle = begin + (end - begin) / 2;
    const std::uint64_t order = order_of(type.key, sorted + middle * type.width);
    const bool is_before = order != splitter.order
                               ? order < splitter.order
                               : (rank != splitter.rank ? rank < splitter.rank : middle < splitter.index);
    (is_before ? begin : end) = is_before ? middle + 1 : middle;
  }
  return begin;
}

}  // namespace

Parts divide(RecordType type, const std::byte* records, std::uint64_t count, int rank,
             std::span<const Splitter> splitters) {
  Parts divided{PrivateMemory(count * sizeof(std::uint16_t)), BlockCounts(splitters.size() + 1)};
  BlockCounts odd(divided.counts.size());
  auto* const of_element = reinterpret_cast<std::uint16_t*>(divided.of_element.data());
  for (std::uint64_t begin = 0; begin < count; begin += block) {
    const std::span here(of_element + begin, std::min(block, count - begin));
    classify(type, records + begin * type.width, here.size(), static_cast<std::uint64_t>(rank), begin, splitters, here);
    count_parts(here, divided.counts, odd);
  }
  for (std::size_t part = 0; part < odd.size(); ++part) divided.counts[part] += odd[part];
  return divided;
}

BlockCounts divide_sorted(RecordType type, const std::byte* sorted, std::uint64_t count, int rank,
                          std::span<const Splitter> splitters) {
  BlockCounts counts;
  std::uint64_t begin = 0;
  for (const Splitter& splitter : splitters) {
    const std::uint64_t end = first_behind(type, sorted, count, static_cast<std::uint64_t>(rank), splitter);
    counts.push_back(end - begin);
    begin = end;
  }
  counts.push_back(count - begin);
  return counts;
}

}  // namespace hocket::sort
