#pragma once
/// One rank's part of a pass by a digit: counting, and ordering by bucket.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sort/core/elements/record.hpp"
#include "sort/mpi/exchange/deliver.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"

namespace hocket::sort {

[[nodiscard]] BlockCounts count_buckets(RecordType type, const std::byte* records, std::uint64_t count, Digit digit);

/// The presort copy: the records ordered by bucket in `to`. `counts`: of each bucket.
void order_by_bucket(RecordType type, const std::byte* records, std::uint64_t count, Digit digit,
                     const BlockCounts& counts, std::byte* to);

/// The runs that deliver the buckets: bucket b, in bucket order from element 0 of the source on, goes to
/// `positions[b]`.
[[nodiscard]] std::vector<Run> runs_of(const BlockCounts& counts, const BlockCounts& positions);

}  // namespace hocket::sort
