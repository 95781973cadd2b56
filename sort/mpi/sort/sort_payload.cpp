#include "sort/mpi/sort/sort_payload.hpp"

#include <numeric>
#include <span>

#include "sort/core/elements/pack.hpp"
#include "sort/mpi/permute/take.hpp"
#include "sort/mpi/place/collective_try.hpp"

namespace hocket::sort {
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
