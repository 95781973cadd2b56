#include <algorithm>
#include <numeric>
#include <span>

#include "sort/core/elements/move.hpp"
#include "sort/core/elements/partition.hpp"
#include "sort/mpi/permute/permute.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/sort/sort.hpp"

namespace hocket::sort {

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
