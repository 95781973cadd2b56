#pragma once
/// Payload on its way through a sort: narrow ones travel with their keys; of wide ones the places travel, and they are
/// fetched once at the end.
#include "sort/core/elements/record.hpp"
#include "sort/mpi/place/layout.hpp"
#include "sort/mpi/place/private_memory.hpp"
#include "sort/mpi/sort/check_sort.hpp"

namespace hocket::sort {

/// The type of the records that move: a key followed by its payload or position.
[[nodiscard]] RecordType record_type(int key_type, std::size_t payload_width);

/// Bytes of payload that are fetched at the end, as they do not move.
[[nodiscard]] std::size_t fetched_width(std::size_t payload_width);

/// Room for `room` records, and those of this rank in it. `first`: position of its first element.
[[nodiscard]] PrivateMemory pack_records(const SortArguments& arguments, std::uint64_t room, std::uint64_t first);

struct KeysAndPayload {
  PrivateMemory keys, payload;
};

/// Collective. From `count` sorted records of this rank; `source`: where elements were before.
[[nodiscard]] KeysAndPayload unpack_records(HostSharedContext& place, const SortArguments& arguments,
                                            const Layout& source, PrivateMemory records, std::uint64_t count);

}  // namespace hocket::sort
