#include "sort/mpi/sort/sort.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "runtime/progress/waiting.hpp"
#include "sort/core/elements/move.hpp"
#include "sort/core/elements/partition.hpp"
#include "sort/mpi/permute/permute.hpp"

namespace hocket::sort {

static void need_between(int value, int least, int most, const char* name) {
  if (value < least || value > most)
    throw InputError(std::string(name) + " " + std::to_string(value) + " is none: from " + std::to_string(least) +
                     " to " + std::to_string(most));
}

static void check_own(const HostSharedContext& place, const SortArguments& arguments) {
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

/// Samples per rank and splitter, the unit of the model.
static unsigned samples_per_splitter(const SortShape& shape, const hocket_sort_options& options) {
  const auto pairs = static_cast<std::uint64_t>(shape.ranks) * static_cast<std::uint64_t>(shape.ranks - 1);
  const std::uint64_t samples =
      all_samples(shape.elements, shape.ranks, static_cast<std::uint64_t>(options.oversampling));
  return pairs == 0 ? 0 : static_cast<unsigned>(samples / pairs);
}

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

// hocket_sort.h

using namespace hocket::sort;

struct hocket_sorted {
  PrivateMemory keys, payload;
  std::uint64_t count = 0;
  int method = 0;
  double imbalance = 1;
  std::vector<hocket_sort_step> steps;
};

namespace {

std::uint64_t varying_bits(HostSharedContext& place, const SortArguments& arguments) {
  const auto key = static_cast<hocket::KeyType>(arguments.key_type);
  const auto own = hocket::key_bits({key, hocket::key_bytes(key)}, static_cast<const std::byte*>(arguments.keys),
                                    static_cast<std::size_t>(arguments.count));
  const std::uint64_t mine[] = {own.ones, own.zeros};
  std::uint64_t all[] = {0, 0};
  reduce(mine, all, 2, MPI_UINT64_T, MPI_BOR, place.comm());
  return all[0] & all[1];
}

std::optional<Layout> target_of(int balance, const Layout& source) {
  if (balance == HOCKET_AS_IT_FALLS) return std::nullopt;
  return balance == HOCKET_IN_PLACE ? source : Layout::balanced(source.total(), source.ranks());
}

/// Enters the model's prediction into each step, by name.
void enter(const std::vector<hocket::StepCost>& expected, std::vector<hocket_sort_step>& steps) {
  for (hocket_sort_step& step : steps)
    for (const hocket::StepCost& cost : expected)
      if (cost.name == step.name) step.predicted = cost.seconds;
}

std::unique_ptr<hocket_sorted> sort(HostSharedContext& place, const SortArguments& arguments) {
  StepClock clock(arguments.options, place);
  const Layout source = Layout::gather(place.comm(), static_cast<std::uint64_t>(arguments.count));
  const hocket::RecordType type = record_type(arguments.key_type, arguments.payload_width);
  const std::uint64_t varying = varying_bits(place, arguments);
  const LocalSort sort_locally(type, arguments.options);
  const hocket::SortShape shape{type,
                                source.total(),
                                static_cast<unsigned>(std::bit_width(varying)),
                                place.size(),
                                place.largest_host_size(),
                                sort_locally.by_library(),
                                fetched_width(arguments.payload_width)};
  const SortChoice choice = choose_sort(place, arguments.options, shape, varying);
  const bool radix = choice.method == HOCKET_SORT_RADIX;
  const Sampling sampling{arguments.options.sampling == HOCKET_SAMPLE_REGULAR,
                          static_cast<std::uint64_t>(arguments.options.oversampling), arguments.options.seed};

  SortTask task{type,
                sort_locally,
                source,
                target_of(arguments.options.balance, source),
                static_cast<const std::byte*>(arguments.keys),
                {}};
  const bool packs = arguments.payload_width > 0;
  const bool alone = place.size() == 1;
  const int steps = alone ? 1 : radix ? radix_step_count(choice.digits) : sample_step_count(sampling);
  clock.expect(steps + (packs ? 2 : 0));
  if (packs) {
    const std::uint64_t room = radix ? radix_room(place.rank(), source, task.target) : source.count(place.rank());
    collective_try(place, [&] { task.packed = pack_records(arguments, room, source.begin(place.rank())); });
    task.records = task.packed.data();
    clock.step_over(pack_step);
  }
  SortedRecords done = alone   ? sort_alone(std::move(task))
                       : radix ? radix_sort(place, std::move(task), choice.digits, clock)
                               : sample_sort(place, std::move(task), sampling, clock);
  if (alone) clock.step_over(RadixStep::local_sort);  // which a sample sort calls the same

  auto sorted = std::make_unique<hocket_sorted>();
  sorted->count = done.layout.count(place.rank());
  sorted->method = choice.method;
  sorted->imbalance = done.imbalance;
  if (packs) {
    KeysAndPayload both = unpack_records(place, arguments, source, std::move(done.records), sorted->count);
    sorted->keys = std::move(both.keys);
    sorted->payload = std::move(both.payload);
    clock.step_over(unpack_step);
  } else {
    sorted->keys = std::move(done.records);
  }
  std::vector<hocket::StepCost> expected = choice.cost;
  if (const std::uint64_t bytes = clock.first_touched(); bytes > 0)
    expected.push_back({first_touch_step, predict_first_touch(memory_profile(place.comm()), bytes, place.host_size())});
  sorted->steps = std::move(clock).steps();
  enter(expected, sorted->steps);
  return sorted;
}

}  // namespace

int hocket_sort(MPI_Comm comm, const hocket_sort_options* options, int key_type, int64_t count, const void* keys,
                size_t payload_width, const void* payload, hocket_sorted** sorted) {
  return c_boundary([&] {
    if (sorted != nullptr) *sorted = nullptr;
    HostSharedContext& place = HostSharedContext::of(comm);
    const SortArguments arguments{
        options != nullptr ? *options : hocket_sort_options{}, key_type, count, keys, payload_width, payload};
    check_sort(place, arguments, static_cast<const void*>(sorted));
    *sorted = sort(place, arguments).release();
  });
}

int64_t hocket_sorted_count(const hocket_sorted* sorted) { return static_cast<std::int64_t>(sorted->count); }
void* hocket_sorted_keys(const hocket_sorted* sorted) { return sorted->keys.data(); }
void* hocket_sorted_payload(const hocket_sorted* sorted) { return sorted->payload.data(); }

void hocket_free_sorted(hocket_sorted** sorted) {
  if (sorted == nullptr) return;
  delete *sorted;
  *sorted = nullptr;
}

int hocket_sorted_method(const hocket_sorted* sorted) { return sorted->method; }

size_t hocket_sorted_steps(const hocket_sorted* sorted, const hocket_sort_step** steps) {
  if (steps != nullptr) *steps = sorted->steps.data();
  return sorted->steps.size();
}

double hocket_sorted_imbalance(const hocket_sorted* sorted) { return sorted->imbalance; }
