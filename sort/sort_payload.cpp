#include "sort_payload.hpp"

#include <vector>

#include "api.hpp"
#include "hocket/elements/pack.hpp"

namespace hocket::runtime {
namespace {

constexpr std::size_t widest_carried = 1 << 20;
using Position = std::int64_t;

KeyType key_type(const SortArguments& arguments) { return static_cast<KeyType>(arguments.key_type); }

}  // namespace

Carried carried(std::size_t payload_width) {
  if (payload_width == 0) return Carried::nothing;
  return payload_width <= widest_carried ? Carried::payload : Carried::position;
}

RecordType record_type(int type, std::size_t payload_width) {
  const auto key = static_cast<KeyType>(type);
  return {key, key_bytes(key) + (carried(payload_width) == Carried::position ? sizeof(Position) : payload_width)};
}

PrivateMemory pack_records(const SortArguments& arguments, std::uint64_t room, std::uint64_t first) {
  const std::size_t key = key_bytes(key_type(arguments));
  PrivateMemory records(room * record_type(arguments.key_type, arguments.payload_width).width);
  const auto* const keys = static_cast<const std::byte*>(arguments.keys);
  const auto count = static_cast<std::uint64_t>(arguments.count);
  pack(key, keys, arguments.payload_width, static_cast<const std::byte*>(arguments.payload), count, records.data());
  static_cast<void>(first);
  return records;
}

KeysAndPayload unpack_records(Workplace& place, const SortArguments& arguments, PrivateMemory records,
                              std::uint64_t count) {
  const std::size_t key = key_bytes(key_type(arguments));
  KeysAndPayload out;
  together(place.comm(), HOCKET_ERR_MEMORY, [&] {
    out = {PrivateMemory(count * key), PrivateMemory(count * arguments.payload_width)};
  });
  unpack(key, out.keys.data(), arguments.payload_width, out.payload.data(), count, records.data());
  return out;
}

}  // namespace hocket::runtime
