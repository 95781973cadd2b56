#include "sort/mpi/sort/choose_sort.hpp"

#include <utility>

#include "sort/core/costs/sort_costs.hpp"
#include "sort/mpi/costs/profile.hpp"
#include "sort/mpi/sort/sample_sort.hpp"
#include "sort/mpi/sort/splitters.hpp"

namespace hocket::sort {
namespace {

/// Samples per rank and splitter, the unit of the model.
unsigned samples_per_splitter(const SortShape& shape, const hocket_sort_options& options) {
  const auto pairs = static_cast<std::uint64_t>(shape.ranks) * static_cast<std::uint64_t>(shape.ranks - 1);
  const std::uint64_t samples =
      all_samples(shape.elements, shape.ranks, static_cast<std::uint64_t>(options.oversampling));
  return pairs == 0 ? 0 : static_cast<unsigned>(samples / pairs);
}

}  // namespace

SortChoice choose_sort(HostSharedContext& place, const hocket_sort_options& options, const SortShape& shape,
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

}  // namespace hocket::sort
