#include "sort/mpi/sort/buckets.hpp"

#include "sort/core/elements/partition.hpp"

namespace hocket::sort {

BlockCounts count_buckets(RecordType type, const std::byte* records, std::uint64_t count, Digit digit) {
  BlockCounts counts(std::size_t{1} << digit.bits);
  count_digits(type, records, count, digit, counts);
  return counts;
}

void order_by_bucket(RecordType type, const std::byte* records, std::uint64_t count, Digit digit,
                     const BlockCounts& counts, std::byte* to) {
  std::vector<std::byte*> places = block_begins(to, counts, type.width);
  partition(type, records, count, digit, places);
}

std::vector<Run> runs_of(const BlockCounts& counts, const BlockCounts& positions) {
  std::vector<Run> runs;
  std::uint64_t from = 0;
  for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
    if (counts[bucket] > 0) runs.push_back({from, counts[bucket], positions[bucket]});
    from += counts[bucket];
  }
  return runs;
}

}  // namespace hocket::sort
