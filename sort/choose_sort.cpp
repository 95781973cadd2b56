#include "choose_sort.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "digits.hpp"
#include "hocket/model/sort_costs.hpp"
#include "profile.hpp"
#include "sample_sort.hpp"
#include "splitters.hpp"

namespace hocket::runtime {
namespace {

struct RadixPlan {
  RadixDigits digits;
  std::vector<StepCost> cost;
};

RadixPlan by_all_digits(const MemoryProfile& profile, const SortShape& shape, std::uint64_t varying, unsigned bits) {
  RadixPlan plan{{digits_over(varying, bits), std::nullopt}, {}};
  plan.cost = predict_radix(profile, shape, plan.digits.all);
  return plan;
}

/// The `bits` highest of `varying`.
Digit highest_digit(std::uint64_t varying, unsigned bits) {
  const auto width = static_cast<unsigned>(std::bit_width(varying));
  return {width - std::min(bits, width), std::min(bits, width)};
}

/// What is expected to be fastest.
RadixPlan fastest_radix(const MemoryProfile& profile, const SortShape& shape, std::uint64_t varying) {
  RadixPlan best = by_all_digits(profile, shape, varying, most_digit_bits);
  const auto consider = [&](RadixPlan plan) {
    if (seconds(plan.cost) < seconds(best.cost)) best = std::move(plan);
  };
  for (unsigned bits = most_digit_bits - 1; bits >= 4; --bits) consider(by_all_digits(profile, shape, varying, bits));
  if (varying == 0) return best;
  const std::vector<Digit> all = best.digits.all;
  constexpr unsigned least_highest_bits = 8;  // so that buckets can be cut close to where ranks should begin
  for (unsigned bits = most_digit_bits; bits >= least_highest_bits; --bits) {
    const Digit highest = highest_digit(varying, bits);
    consider({{all, highest}, predict_highest_first(profile, shape, highest)});
  }
  return best;
}

/// As the model counts them: per rank and splitter.
unsigned samples_per_splitter(const SortShape& shape, const hocket_sort_options& options) {
  const auto pairs = static_cast<std::uint64_t>(shape.ranks) * static_cast<std::uint64_t>(shape.ranks - 1);
  const std::uint64_t samples =
      all_samples(shape.elements, shape.ranks, static_cast<std::uint64_t>(options.oversampling));
  return pairs == 0 ? 0 : static_cast<unsigned>(samples / pairs);
}

}  // namespace

SortChoice choose_sort(Workplace& place, const hocket_sort_options& options, const SortShape& shape,
                       std::uint64_t varying) {
  const MemoryProfile& profile = memory_profile(place.comm());
  RadixPlan radix = options.digit_bits > 0
                        ? by_all_digits(profile, shape, varying, static_cast<unsigned>(options.digit_bits))
                        : fastest_radix(profile, shape, varying);
  std::vector<StepCost> sample = predict_sample(profile, shape, samples_per_splitter(shape, options));
  const bool sample_serves = place.size() <= most_sample_ranks;
  int method = options.method;
  if (method == HOCKET_SORT_AUTO)
    method = sample_serves && seconds(sample) < seconds(radix.cost) ? HOCKET_SORT_SAMPLE : HOCKET_SORT_RADIX;
  return {method, std::move(radix.digits), method == HOCKET_SORT_RADIX ? std::move(radix.cost) : std::move(sample)};
}

}  // namespace hocket::runtime
