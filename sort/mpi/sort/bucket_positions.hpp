#pragma once
/// The bucket work of a radix sort: from the counts of all ranks to the positions of all buckets.
#include "sort/mpi/costs/steps.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/place/host_shared_context.hpp"

namespace hocket::sort {

/// Collective. `counts`: of this rank's elements in each bucket. Returns where in the whole array each of this rank's
/// buckets begins, if elements are ordered by bucket, and by rank within a bucket.
///
/// Every rank scans its share of the buckets: the counts are transposed, so that a rank has those of all ranks, and
/// the positions are transposed back.
[[nodiscard]] BlockCounts bucket_positions(HostSharedContext& place, const BlockCounts& counts, StepClock& clock);

}  // namespace hocket::sort
