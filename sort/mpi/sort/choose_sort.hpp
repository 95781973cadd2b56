#pragma once
/// The choice of a sort method, with predicted times.
#include <cstdint>
#include <vector>

#include "hocket_sort.h"
#include "sort/core/costs/step_cost.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/sort/radix_sort.hpp"

namespace hocket::sort {

struct SortChoice {
  int method;                  ///< HOCKET_SORT_RADIX or HOCKET_SORT_SAMPLE
  RadixDigits digits;          ///< digits of the radix sort
  std::vector<StepCost> cost;  ///< predicted cost of each step
};

/// Collective; the same on all ranks. What the options leave open is what rank 0's memory model expects to be
/// fastest. `varying`: bits of order_of() in which keys differ.
[[nodiscard]] SortChoice choose_sort(HostSharedContext& place, const hocket_sort_options& options,
                                     const SortShape& shape, std::uint64_t varying);

}  // namespace hocket::sort
