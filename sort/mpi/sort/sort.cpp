#include "sort/mpi/sort/sort.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "sort/core/costs/costs.hpp"
#include "sort/core/elements/move.hpp"
#include "sort/core/elements/partition.hpp"
#include "sort/core/elements/record.hpp"
#include "sort/mpi/costs/costs.hpp"
#include "sort/mpi/permute/permute.hpp"
#include "sort/mpi/place/host_shared_context.hpp"

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

double imbalance_of(const Layout& layout) {
  if (layout.total() == 0) return 1;
  std::uint64_t most = 0;
  for (int rank = 0; rank < layout.ranks(); ++rank) most = std::max(most, layout.count(rank));
  return static_cast<double>(most) * layout.ranks() / static_cast<double>(layout.total());
}

void LocalSort::operator()(std::byte* records, std::size_t n, std::byte* scratch) const {
  constexpr std::size_t few = 1024;  // not worth a call of another language
  if (by_library() && n > few && options_.sort_keys(records, static_cast<std::int64_t>(n), options_.context) == 1)
    return;
  sort_records(type_, records, n, scratch);
}

SortedRecords sort_alone(SortTask task) {
  const std::size_t count = task.source.total(), bytes = count * task.type.width;
  const PrivateMemory scratch(bytes);
  PrivateMemory sorted = std::move(task.packed);
  if (sorted.bytes() == 0) {
    sorted = PrivateMemory(bytes);
    copy(task.records, sorted.data(), bytes);
  }
  task.sort_locally(sorted.data(), count, scratch.data());
  return {std::move(sorted), std::move(task.source), 1};
}

namespace {

/// Wider payload does not travel with its key: each exchange moves all of the record, and a fetch of single elements
/// moves at least a cache line for each.
constexpr std::size_t widest_carried = 24;
using Position = std::int64_t;

KeyType key_type(const SortArguments& arguments) { return static_cast<KeyType>(arguments.key_type); }
const std::byte* memory_of(const void* memory) { return static_cast<const std::byte*>(memory); }

bool travels(std::size_t payload_width) { return payload_width <= widest_carried; }
std::size_t carried_width(std::size_t payload_width) {
  return travels(payload_width) ? payload_width : sizeof(Position);
}

}  // namespace

RecordType record_type(int type, std::size_t payload_width) {
  const auto key = static_cast<KeyType>(type);
  return {key, key_bytes(key) + carried_width(payload_width)};
}

std::size_t fetched_width(std::size_t payload_width) { return travels(payload_width) ? 0 : payload_width; }

PrivateMemory pack_records(const SortArguments& arguments, std::uint64_t room, std::uint64_t first) {
  const auto count = static_cast<std::uint64_t>(arguments.count);
  const std::size_t width = carried_width(arguments.payload_width);
  PrivateMemory records(room * (key_bytes(key_type(arguments)) + width)), positions;
  const std::byte* carried = memory_of(arguments.payload);
  if (!travels(arguments.payload_width)) {
    positions = PrivateMemory(count * sizeof(Position));
    const std::span all(reinterpret_cast<Position*>(positions.data()), count);
    std::iota(all.begin(), all.end(), static_cast<Position>(first));
    carried = positions.data();
  }
  pack(key_bytes(key_type(arguments)), memory_of(arguments.keys), width, carried, count, records.data());
  return records;
}

KeysAndPayload unpack_records(HostSharedContext& place, const SortArguments& arguments, const Layout& source,
                              PrivateMemory records, std::uint64_t count) {
  const std::size_t key = key_bytes(key_type(arguments)), width = carried_width(arguments.payload_width);
  PrivateMemory keys, carried, payload;
  collective_try(place, [&] {
    keys = PrivateMemory(count * key);
    carried = PrivateMemory(count * width);
    if (!travels(arguments.payload_width)) payload = PrivateMemory(count * arguments.payload_width);
  });
  unpack(key, keys.data(), width, carried.data(), count, records.data());
  if (travels(arguments.payload_width)) return {std::move(keys), std::move(carried)};
  records = {};
  const auto take = place.one_host() ? take_chained : take_packed;
  take(place, {arguments.payload_width,
               source,
               memory_of(arguments.payload),
               {reinterpret_cast<const Position*>(carried.data()), count},
               payload.data()});
  return {std::move(keys), std::move(payload)};
}

}  // namespace hocket::sort
