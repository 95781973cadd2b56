#pragma once
/// h-relations: elements go to ranks, not to positions.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sort/mpi/place/host_shared_context.hpp"

namespace hocket::sort {

struct FreeMemory {
  void operator()(std::byte* memory) const;
};
using Arrived = std::unique_ptr<std::byte, FreeMemory>;

/// Ranks as 16-bit numbers, as dividing takes them. Throws on all ranks if one does not exist.
[[nodiscard]] std::vector<std::uint16_t> check_ranks(HostSharedContext& place, std::span<const int> ranks);

/// Collective. Element i goes to ranks[i]; what arrives is in the order of senders, and of each in its order.
/// `chained`: within a host out of each other's memory.
[[nodiscard]] Arrived send_elements(HostSharedContext& place, bool chained, std::size_t width, const std::byte* source,
                                    std::span<const std::uint16_t> ranks, std::uint64_t& arrived);

}  // namespace hocket::sort
