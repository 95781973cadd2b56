#include "sort/mpi/sort/check_sort.hpp"

#include <string>

#include "sort/core/elements/record.hpp"
#include "sort/mpi/place/collective_try.hpp"
#include "sort/mpi/sort/sample_sort.hpp"

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

}  // namespace hocket::sort
