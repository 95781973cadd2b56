#include "sort/mpi/permute/permute.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runtime/progress/waiting.hpp"
#include "sort/core/elements/move.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"

namespace hocket::sort {
namespace {

constexpr std::uint64_t no_position = UINT64_MAX;

/// The first position in this rank's part of the target that is given twice, by any ranks.
std::uint64_t first_repeated(HostSharedContext& place, const Permutation& permutation) {
  const Cuts cuts(permutation.target.begins());
  BlockCounts sends(cuts.size(), 0);
  count_positions(cuts, permutation.destinations, sends);
  const BlockCounts receives = exchange_counts(place, sends);
  std::vector<std::uint64_t> out, in;
  collective_try(place, [&] {
    out.resize(permutation.destinations.size());
    in.resize(total_of(receives));
    std::vector<std::uint64_t*> at = block_begins(out.data(), sends, 1);
    divide(cuts, permutation.destinations, at);
  });
  exchange_blocks(place, sizeof(std::uint64_t), reinterpret_cast<const std::byte*>(out.data()), sends,
                  reinterpret_cast<std::byte*>(in.data()), receives);
  std::ranges::sort(in);
  const auto twice = std::ranges::adjacent_find(in);
  return twice == in.end() ? no_position : permutation.target.begin(place.rank()) + *twice;
}

}  // namespace

std::vector<std::uint64_t> count_destinations(HostSharedContext& place, const Permutation& permutation,
                                              const Cuts& cuts) {
  std::vector<std::uint64_t> counts(cuts.size(), 0);
  collective_try(place, [&] {
    const std::size_t good = count_positions(cuts, permutation.destinations, counts);
    if (good < permutation.destinations.size())
      refuse_position("destination", permutation.destinations[good], good, "target", cuts.total());
  });
  return counts;
}

void refuse_repeated(HostSharedContext& place, const Permutation& permutation) {
  const std::uint64_t own = first_repeated(place, permutation);
  std::uint64_t position = no_position;
  reduce(&own, &position, 1, MPI_UINT64_T, MPI_MIN, place.comm());

  std::array<std::uint64_t, 2> mine{no_position, no_position};  // this rank's first elements that go there
  std::size_t found = 0;
  for (std::size_t i = 0; i < permutation.destinations.size() && found < mine.size(); ++i)
    if (static_cast<std::uint64_t>(permutation.destinations[i]) == position) mine[found++] = i;
  std::vector<std::uint64_t> all(mine.size() * static_cast<std::size_t>(place.size()));
  run_collective(PMPI_Iallgather, mine.data(), 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, place.comm());

  std::vector<std::string> culprits;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != no_position)
      culprits.push_back("element " + std::to_string(all[i]) + " of rank " + std::to_string(i / 2));
  throw ApiError{HOCKET_ERR_ARGUMENT, "destination " + std::to_string(position) + " is repeated: " + culprits.at(0) +
                                          " and " + culprits.at(1) + " go there"};
}

namespace {

template <class Offset>
bool permute(HostSharedContext& place, const Permutation& permutation) {
  const std::size_t width = permutation.width;
  const Cuts cuts(permutation.target.begins());
  const BlockCounts sends = count_destinations(place, permutation, cuts);
  const BlockCounts receives = exchange_counts(place, sends);
  const std::uint64_t arriving = total_of(receives);
  const std::uint64_t places = permutation.target.count(place.rank());
  PrivateMemory data_in, offsets_in;
  std::vector<std::uint64_t> taken;  // a bit of each place
  {
    PrivateMemory data_out, offsets_out;
    collective_try(place, [&] {
      data_in = PrivateMemory(arriving * width);
      offsets_in = PrivateMemory(arriving * sizeof(Offset));
      data_out = PrivateMemory(total_of(sends) * width);
      offsets_out = PrivateMemory(total_of(sends) * sizeof(Offset));
      taken.resize((places + 63) / 64, 0);
      std::vector<std::byte*> data = block_begins(data_out.data(), sends, width);
      std::vector<Offset*> offsets = block_begins(reinterpret_cast<Offset*>(offsets_out.data()), sends, 1);
      divide(cuts, width, permutation.source, permutation.destinations, data, offsets);
    });
    exchange_blocks(place, sizeof(Offset), offsets_out.data(), sends, offsets_in.data(), receives);
    exchange_blocks(place, width, data_out.data(), sends, data_in.data(), receives);
  }
  if (arriving != places) return false;
  return scatter_once(width, data_in.data(), std::span(reinterpret_cast<const Offset*>(offsets_in.data()), arriving),
                      permutation.own, taken) == arriving;
}

}  // namespace

bool permute_packed(HostSharedContext& place, const Permutation& permutation) {
  std::uint64_t largest = 0;
  for (int rank = 0; rank < place.size(); ++rank) largest = std::max(largest, permutation.target.count(rank));
  return largest <= std::numeric_limits<std::uint32_t>::max() ? permute<std::uint32_t>(place, permutation)
                                                              : permute<std::uint64_t>(place, permutation);
}

}  // namespace hocket::sort
