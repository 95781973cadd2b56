#include <string>
#include <utility>

#include "sort/core/costs/costs.hpp"
#include "sort/core/elements/record.hpp"
#include "sort/mpi/costs/costs.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/sort/sort.hpp"

namespace hocket::sort {
namespace {

void need_between(int value, int least, int most, const char* name) {
  if (value < least || value > most)
    throw InputError(std::string(name) + " " + std::to_string(value) + " is none: from " + std::to_string(least) +
                     " to " + std::to_string(most));
}

void check_own(const HostSharedContext& place, const SortArguments& arguments) {
  const hocket_sort_options& options = arguments.options;
  need_between(arguments.key_type, 0, static_cast<int>(key_types) - 1, "key type");
  need_between(options.method, HOCKET_SORT_AUTO, HOCKET_SORT_SAMPLE, "method");
  need_between(options.balance, HOCKET_EVEN, HOCKET_AS_IT_FALLS, "balance");
  need_between(options.sampling, HOCKET_SAMPLE_RANDOM, HOCKET_SAMPLE_REGULAR, "sampling");
  need_between(options.oversampling, 0, 1 << 20, "oversampling");
  need_between(options.digit_bits, 0, static_cast<int>(most_digit_bits), "digit_bits");
  if (options.method == HOCKET_SORT_SAMPLE && place.size() > most_sample_ranks)
    throw InputError("sample sort serves at most " + std::to_string(most_sample_ranks) + " ranks; use radix sort");
  if (arguments.count < 0) throw InputError("a count of " + std::to_string(arguments.count) + " keys");
  if (arguments.count > 0) need(arguments.keys, "keys");
  if (arguments.count > 0 && arguments.payload_width > 0) need(arguments.payload, "payload");
  if (arguments.payload_width > INT32_MAX)
    throw InputError("a payload of " + std::to_string(arguments.payload_width) + " bytes is more than can be");
  const std::uint64_t width = key_bytes(static_cast<KeyType>(arguments.key_type)) + arguments.payload_width;
  const std::uint64_t most = static_cast<std::uint64_t>(INT64_MAX) / static_cast<std::uint64_t>(place.size());
  if (static_cast<std::uint64_t>(arguments.count) > most / width)
    throw InputError(std::to_string(arguments.count) + " elements of " + std::to_string(width) +
                     " bytes are more than can be");
}

}  // namespace

void check_sort(HostSharedContext& place, const SortArguments& arguments, const void* sorted) {
  collective_try(place, [&] {
    need(sorted, "sorted");
    check_own(place, arguments);
  });
  const hocket_sort_options& options = arguments.options;
  const auto number = [](int value) { return static_cast<std::uint64_t>(value); };
  same_everywhere(place, {{"key type", number(arguments.key_type)},
                          {"payload width", arguments.payload_width},
                          {"method", number(options.method)},
                          {"balance", number(options.balance)},
                          {"sampling", number(options.sampling)},
                          {"oversampling", number(options.oversampling)},
                          {"digit_bits", number(options.digit_bits)},
                          {"sort_keys (0: none)", options.sort_keys == nullptr ? 0u : 1u},
                          {"seed", options.seed}});
}

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
