#pragma once
/// What sorting is expected to take, step by step, by the copy-transfer model on the figures of a machine.
#include <span>
#include <vector>

#include "hocket/model/memory_profile.hpp"
#include "hocket/model/step_cost.hpp"

namespace hocket {

/// The radix sort, by radix_steps, for keys that are spread evenly. Throws InputError for a shape that cannot be, or
/// a digit of no bits or more than most_digit_bits.
[[nodiscard]] std::vector<StepCost> predict_radix(const MemoryProfile& profile, const SortShape& shape,
                                                  std::span<const Digit> digits);
/// By the highest digit first, by all of radix_steps; likewise.
[[nodiscard]] std::vector<StepCost> predict_highest_first(const MemoryProfile& profile, const SortShape& shape,
                                                          Digit highest);
/// With the digits that digits_of() makes of the order's bits, by radix_digit_bits().
[[nodiscard]] std::vector<StepCost> predict_radix(const MemoryProfile& profile, const SortShape& shape);

/// The most bits per digit with which the radix sort is expected to be fastest.
[[nodiscard]] unsigned radix_digit_bits(const MemoryProfile& profile, const SortShape& shape);

/// The sample sort, by sample_steps. `oversampling`: samples per rank and splitter.
[[nodiscard]] std::vector<StepCost> predict_sample(const MemoryProfile& profile, const SortShape& shape,
                                                   unsigned oversampling = 32);

/// The sum of the steps.
[[nodiscard]] double seconds(std::span<const StepCost> steps);

}  // namespace hocket
