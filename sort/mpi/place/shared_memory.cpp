#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/mpi/world.hpp"
#include "runtime/progress/waiting.hpp"
#include "sort/core/elements/move.hpp"
#include "sort/mpi/place/host_shared_context.hpp"

namespace hocket::sort {
namespace {

constexpr std::uint64_t nobody = 0;  ///< no allocation has this number
constexpr std::size_t copy_slot = 1;

struct Allocation {
  std::unique_ptr<SharedBlock> block;
  std::size_t bytes;       ///< bytes of this rank
  int host_rank;           ///< this rank among those of the host
  std::vector<int> ranks;  ///< ranks of the host in MPI_COMM_WORLD
};

/// The allocations of this process, by number; all ranks of an allocation use the same number.
struct Allocations {
  std::mutex mutex;
  std::map<std::uint64_t, Allocation> by_number;
  std::uint64_t last = nobody;

  static Allocations& instance() {
    static Allocations all;  // never destroyed: windows cannot be freed after MPI_Finalize
    return all;
  }

  /// The number of the allocation in which this rank's memory has these bytes; nobody: none.
  std::uint64_t find(const void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    for (const auto& [number, allocation] : by_number) {
      const auto begin = reinterpret_cast<std::uintptr_t>(allocation.block->part(allocation.host_rank));
      if (at >= begin && bytes <= allocation.bytes && at - begin <= allocation.bytes - bytes && memory != nullptr)
        return number;
    }
    return nobody;
  }
};

std::uint64_t largest(HostSharedContext& place, std::uint64_t own) {
  std::uint64_t all = 0;
  reduce(&own, &all, 1, MPI_UINT64_T, MPI_MAX, place.comm());
  return all;
}

/// The number of the allocation that holds a rank's memory, and the offset in it; `empty`: the rank has no bytes there.
struct HostAllocation {
  std::uint64_t number, offset, empty;
};

std::vector<HostAllocation> of_host(HostSharedContext& place, const HostAllocation& own) {
  std::vector<HostAllocation> all(static_cast<std::size_t>(place.host_size()));
  run_collective(PMPI_Iallgather, &own, 3, MPI_UINT64_T, all.data(), 3, MPI_UINT64_T, place.host());
  return all;
}

/// The addresses of the memory that the ranks of the host have found; empty if it is not one allocation.
std::vector<const std::byte*> same_allocation(HostSharedContext& place, const std::vector<HostAllocation>& found) {
  std::uint64_t number = nobody;
  for (const HostAllocation& one : found)
    if (!one.empty) number = one.number;
  for (const HostAllocation& one : found)
    if (!one.empty && one.number != number) return {};
  Allocations& allocations = Allocations::instance();
  const std::lock_guard lock(allocations.mutex);
  const auto allocation = allocations.by_number.find(number);
  if (allocation == allocations.by_number.end() || allocation->second.ranks != world_ranks(place.host())) return {};
  std::vector<const std::byte*> parts;
  for (std::size_t rank = 0; rank < found.size(); ++rank)
    parts.push_back(allocation->second.block->part(static_cast<int>(rank)) + found[rank].offset);
  return parts;
}

}  // namespace

std::byte* allocate_shared(HostSharedContext& place, std::size_t bytes) {
  if (largest(place, bytes) == 0) return nullptr;
  Allocations& allocations = Allocations::instance();
  const std::uint64_t number = largest(place, allocations.last) + 1;
  Allocation fresh{nullptr, bytes, place.host_rank(), world_ranks(place.host())};
  collective_try(place, [&] { fresh.block = place.share(bytes); });
  std::byte* const own = fresh.block->part(place.host_rank());
  const std::lock_guard lock(allocations.mutex);
  allocations.last = number;
  allocations.by_number.emplace(number, std::move(fresh));
  return bytes == 0 ? nullptr : own;
}

void release_shared(HostSharedContext& place, const void* memory) {
  Allocations& allocations = Allocations::instance();
  const std::uint64_t own = allocations.find(memory, 0);
  const std::uint64_t number = largest(place, own);
  collective_try(place, [&] {
    if (memory != nullptr && own == nobody) throw InputError("memory to release is not of hocket_alloc()");
    if (memory != nullptr && own != number) throw InputError("memory to release is of another hocket_alloc()");
    const std::lock_guard lock(allocations.mutex);
    if (number != nobody && !allocations.by_number.contains(number))
      throw InputError("this rank had no part in the hocket_alloc() of the memory to release");
  });
  if (number == nobody) return;
  std::unique_ptr<SharedBlock> block;
  {
    const std::lock_guard lock(allocations.mutex);
    block = std::move(allocations.by_number.at(number).block);
    allocations.by_number.erase(number);
  }
}

std::vector<const std::byte*> find_shared(HostSharedContext& place, const void* memory, std::size_t bytes) {
  HostAllocation own{nobody, 0, bytes == 0 ? 1U : 0U};
  Allocations& allocations = Allocations::instance();
  own.number = allocations.find(memory, bytes);
  if (own.number != nobody && !own.empty) {
    const std::lock_guard lock(allocations.mutex);
    const Allocation& allocation = allocations.by_number.at(own.number);
    own.offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(memory) -
                                            allocation.block->part(allocation.host_rank));
  }
  std::vector<const std::byte*> parts = same_allocation(place, of_host(place, own));
  const int missing = parts.empty() ? 1 : 0;
  int any_missing = 0;
  reduce(&missing, &any_missing, 1, MPI_INT, MPI_MAX, place.comm());
  if (any_missing) parts.clear();
  return parts;
}

std::vector<const std::byte*> shared_or_copied(HostSharedContext& place, const void* memory, std::size_t bytes) {
  std::vector<const std::byte*> parts = find_shared(place, memory, bytes);
  if (!parts.empty()) return parts;
  const SharedBlock& block = place.block(copy_slot, bytes);
  hocket::copy(static_cast<const std::byte*>(memory), block.part(place.host_rank()), bytes);
  for (int rank = 0; rank < place.host_size(); ++rank) parts.push_back(block.part(rank));
  return parts;
}

}  // namespace hocket::sort
