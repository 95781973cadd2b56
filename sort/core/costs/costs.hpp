#pragma once
/// Predicted time of each step of an operation on elements, by the copy-transfer model with a machine's measured
/// profile.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/memory_profile.hpp"
#include "sort/core/elements/record.hpp"

namespace hocket {

struct StepCost {
  std::string name;
  double seconds;
};

/// The steps of the radix sort, each the sum over all digits: first those of Stricker and Hardwick's, then what
/// follows where the highest digit comes first; and of the sample sort.
inline constexpr int talk_steps = 6;
inline constexpr const char* radix_steps[] = {"bucket counts", "transpose",       "scan",       "untranspose",
                                              "presort copy",  "grouped permute", "local sort", "balance"};
inline constexpr const char* sample_steps[] = {"sample", "splitters", "partition", "exchange", "local sort", "balance"};

/// A sort as the model sees it.
struct SortShape {
  RecordType type;
  std::uint64_t elements = 0;  ///< total over all ranks
  unsigned order_bits = 64;    ///< the lowest bits of the order in which keys differ
  int ranks = 1, ranks_per_host = 1;
  bool library_sort = false;  ///< ranks sort their own keys by a library's function
  std::size_t fetched = 0;    ///< bytes of payload per element whose positions move instead, fetched at the end
};

/// The fetching of elements from anywhere in an array that lies evenly on all ranks.
struct TakeShape {
  std::uint32_t width = 8;     ///< bytes
  std::uint64_t elements = 0;  ///< total over all ranks
  int ranks = 1, ranks_per_host = 1;
};
/// `chained`: within a host out of shared memory.
[[nodiscard]] std::vector<StepCost> predict_take(const MemoryProfile& profile, const TakeShape& shape, bool chained);

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
