/// hocket_sort.h
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hocket_sort.h"
#include "runtime/progress/waiting.hpp"
#include "sort/core/costs/costs.hpp"
#include "sort/core/elements/record.hpp"
#include "sort/mpi/costs/costs.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/sort/sort.hpp"

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
