#pragma once
/// Moving the elements of distributed arrays: permutations, takes, transposes, grouped permutes, h-relations.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sort/core/elements/cuts.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
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

/// The part of this rank. The indices are good.
struct Taking {
  std::size_t width;
  Layout source;
  const std::byte* own;  ///< this rank's part of the source
  std::span<const std::int64_t> indices;
  std::byte* target;
};

/// Collective. Throws on all ranks if an index is out of range.
void check_indices(HostSharedContext& place, const Taking& taking);

/// Requests go to the owners in one exchange, elements come back in another.
void take_packed(HostSharedContext& place, const Taking& taking);

/// Within a host elements are read where they are, or from one copy in shared memory; from other hosts as packed.
void take_chained(HostSharedContext& place, const Taking& taking);

/// Ranks hold whole rows. The source has as many columns as the target has rows.
struct Transposition {
  std::size_t width;
  Layout rows;     ///< distribution of the source's rows
  Layout columns;  ///< distribution of the source's columns, the rows of the target
  const std::byte* source;
  std::byte* own;  ///< this rank's part of the target
};

/// Blocks are cut out, exchanged, and transposed where they arrive.
void transpose_packed(HostSharedContext& place, const Transposition& matrix);
/// Within a host blocks are transposed out of each other's memory.
void transpose_chained(HostSharedContext& place, const Transposition& matrix);

/// Collective. Throws on all ranks unless the runs of all ranks cover every position of the target exactly once.
void check_runs(HostSharedContext& place, std::span<const Run> runs, const Layout& target);

/// Collective. The runs are good.
void grouped_permute(HostSharedContext& place, std::size_t width, std::span<const Run> runs, const std::byte* source,
                     const Layout& target, std::byte* own);

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
