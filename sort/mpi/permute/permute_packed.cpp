#include <cstdint>
#include <limits>
#include <vector>

#include "sort/core/elements/scatter_once.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/permute/permutation.hpp"
#include "sort/mpi/place/collective_try.hpp"
#include "sort/mpi/place/private_memory.hpp"

namespace hocket::sort {
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
