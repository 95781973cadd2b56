#pragma once
/// Permutations of a distributed array: what to do, and the ways to do it.
#include <cstddef>
#include <cstdint>
#include <span>

#include "sort/core/elements/cuts.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"

namespace hocket::sort {

/// The part of this rank. There are as many positions as elements; they are not checked yet.
struct Permutation {
  std::size_t width;
  const std::byte* source;
  std::span<const std::int64_t> destinations;
  Layout target;
  std::byte* own;  ///< this rank's part of the target
};

/// Collective. How many elements go to each bucket; throws on all ranks if a position is out of range.
[[nodiscard]] std::vector<std::uint64_t> count_destinations(HostSharedContext& place, const Permutation& permutation,
                                                            const Cuts& cuts);

/// Gathers what goes to the same rank, exchanges blocks, scatters them. Returns whether every place of this rank has
/// been taken once.
[[nodiscard]] bool permute_packed(HostSharedContext& place, const Permutation& permutation);

/// Within a host elements go through shared memory, in an order that lets their owner put them in place within the
/// cache; between hosts in chunks, while others arrive. Returns whether every place of this rank has been taken once.
[[nodiscard]] bool permute_chained(HostSharedContext& place, const Permutation& permutation);

/// Collective, where some place has been taken twice: throws on all ranks, and says by which elements.
[[noreturn]] void refuse_repeated(HostSharedContext& place, const Permutation& permutation);

}  // namespace hocket::sort
