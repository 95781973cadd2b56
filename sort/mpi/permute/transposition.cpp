#include <vector>

#include "sort/core/elements/move.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/permute/permute.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"

namespace hocket::sort {
namespace {

/// Transposes the block of this rank's columns in the rows of `from` to its place. `stride`: elements from one row of
/// the block to the next.
void place_block(const HostSharedContext& place, const Transposition& matrix, int from, const std::byte* block,
                 std::uint64_t stride) {
  hocket::transpose(matrix.width, block, stride, matrix.rows.count(from), matrix.columns.count(place.rank()),
                    matrix.own + matrix.rows.begin(from) * matrix.width, matrix.rows.total());
}

/// Exchanges blocks with all ranks that `partner` holds for.
template <class Partner>
void exchange(HostSharedContext& place, const Transposition& matrix, Partner partner) {
  const std::uint64_t rows = matrix.rows.count(place.rank()), columns = matrix.columns.count(place.rank());
  BlockCounts sends, receives;
  std::uint64_t out = 0, in = 0;
  for (int rank = 0; rank < place.size(); ++rank) {
    sends.push_back(partner(rank) ? rows * matrix.columns.count(rank) : 0);
    receives.push_back(partner(rank) ? columns * matrix.rows.count(rank) : 0);
    out += sends.back();
    in += receives.back();
  }
  PrivateMemory packed, arrived;
  collective_try(place, [&] {
    packed = PrivateMemory(out * matrix.width);
    arrived = PrivateMemory(in * matrix.width);
  });
  std::byte* to = packed.data();
  for (int rank = 0; rank < place.size(); ++rank) {
    if (!partner(rank)) continue;
    const std::size_t bytes = matrix.columns.count(rank) * matrix.width;
    for (std::uint64_t row = 0; row < rows; ++row, to += bytes)
      hocket::copy(matrix.source + (row * matrix.columns.total() + matrix.columns.begin(rank)) * matrix.width, to,
                   bytes);
  }
  exchange_blocks(place, matrix.width, packed.data(), sends, arrived.data(), receives);
  const std::byte* from = arrived.data();
  for (int rank = 0; rank < place.size(); ++rank) {
    if (!partner(rank)) continue;
    place_block(place, matrix, rank, from, columns);
    from += receives[static_cast<std::size_t>(rank)] * matrix.width;
  }
}

}  // namespace

void transpose_packed(HostSharedContext& place, const Transposition& matrix) {
  exchange(place, matrix, [](int) { return true; });
}

void transpose_chained(HostSharedContext& place, const Transposition& matrix) {
  const std::vector<const std::byte*> parts =
      shared_or_copied(place, matrix.source, matrix.rows.count(place.rank()) * matrix.columns.total() * matrix.width);
  place.meet_host();
  for (int i = 0; i < place.host_size(); ++i) {
    const auto member = static_cast<std::size_t>(place.in_turn(i));
    place_block(place, matrix, place.members()[member],
                parts[member] + matrix.columns.begin(place.rank()) * matrix.width, matrix.columns.total());
  }
  if (!place.one_host()) exchange(place, matrix, [&](int rank) { return place.host_rank_of(rank) < 0; });
  place.meet_host();  // nobody reads this rank's part any more
}

}  // namespace hocket::sort
