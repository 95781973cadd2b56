#pragma once
/// Predicted time of each step of a sort, by the copy-transfer model with a machine's measured profile.
#include <span>
#include <vector>

#include "core/model/memory_profile.hpp"
#include "sort/core/costs/step_cost.hpp"
#include "sort/core/elements/digits.hpp"

namespace hocket {

/// The radix sort, by radix_steps, for keys that are spread evenly. Throws InputError for a shape that cannot be, or
/// a digit of no bits or more than most_digit_bits.
[[nodiscard]] std::vector<StepCost> predict_radix(const MemoryProfile& profile, const SortShape& shape,
                                                  std::span<const Digit> digits);
/// The radix sort by the highest digit first, by all of radix_steps. Throws like predict_radix().
[[nodiscard]] std::vector<StepCost> predict_highest_first(const MemoryProfile& profile, const SortShape& shape,
                                                          Digit highest);

/// A radix sort, and what it is expected to take.
struct RadixPlan {
  RadixDigits digits;
  std::vector<StepCost> cost;
};
/// The plan with digits of at most `bits` bits that cover `varying`, the bits in which keys differ.
[[nodiscard]] RadixPlan by_all_digits(const MemoryProfile& profile, const SortShape& shape, std::uint64_t varying,
                                      unsigned bits);
/// The radix sort with the digits, and the order of digits, predicted to be fastest.
[[nodiscard]] RadixPlan fastest_radix(const MemoryProfile& profile, const SortShape& shape, std::uint64_t varying);

/// The sample sort, by sample_steps. `oversampling`: samples per rank and splitter.
[[nodiscard]] std::vector<StepCost> predict_sample(const MemoryProfile& profile, const SortShape& shape,
                                                   unsigned oversampling = 32);

/// Making and touching `bytes` of shared memory on each of the ranks of a host: once, not in every sort.
[[nodiscard]] double predict_first_touch(const MemoryProfile& profile, std::uint64_t bytes, int ranks_per_host);

/// The sum of the steps.
[[nodiscard]] double seconds(std::span<const StepCost> steps);

}  // namespace hocket
