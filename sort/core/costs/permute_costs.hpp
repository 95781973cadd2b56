#pragma once
/// Predicted time of each step of moving the elements of a distributed array.
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/memory_profile.hpp"
#include "sort/core/costs/step_cost.hpp"

namespace hocket {

/// A permutation as the model sees it: of elements that lie evenly on all ranks and go anywhere.
struct PermuteShape {
  std::uint32_t width = 8;     ///< bytes
  std::uint64_t elements = 0;  ///< total over all ranks
  int ranks = 1, ranks_per_host = 1;
};

enum class PermuteMethod : std::uint8_t { packed, chained };

[[nodiscard]] std::vector<StepCost> predict_permute(const MemoryProfile& profile, const PermuteShape& shape,
                                                    PermuteMethod method);
[[nodiscard]] std::vector<StepCost> predict_take(const MemoryProfile& profile, const PermuteShape& shape,
                                                 PermuteMethod method);
/// Predicts the transpose of a matrix whose rows are distributed over the ranks.
[[nodiscard]] std::vector<StepCost> predict_transpose(const MemoryProfile& profile, const PermuteShape& shape,
                                                      PermuteMethod method);
/// `runs` of each rank.
[[nodiscard]] std::vector<StepCost> predict_grouped_permute(const MemoryProfile& profile, const PermuteShape& shape,
                                                            std::uint64_t runs);

}  // namespace hocket
