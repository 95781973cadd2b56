#include "core/demand/collective.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace hocket {
namespace {

template <Pattern pattern>
Demand equal(std::uint32_t ranks, std::uint64_t bytes, Rank) {
  return {pattern, ranks, bytes};
}

/// A demand with all bytes in the block of the root.
template <Pattern pattern>
Demand at_root(std::uint32_t ranks, std::uint64_t bytes, Rank root) {
  Demand demand{pattern, ranks, bytes, std::vector<std::uint64_t>(ranks, 0)};
  if (root < ranks) demand.contributions[root] = bytes;
  return demand;
}

/// A message between the root and every other rank.
template <bool into_root>
Demand with_root(std::uint32_t ranks, std::uint64_t bytes, Rank root) {
  std::vector<Message> messages;
  for (Rank other = 0; root < ranks && other < ranks; ++other)
    if (other != root) messages.push_back({into_root ? other : root, into_root ? root : other, bytes});
  return irregular(TrafficMatrix(ranks, std::move(messages)));
}

/// A vector of `bytes`, a block of it for every rank.
Demand shared_out(std::uint32_t ranks, std::uint64_t bytes, Rank) {
  Demand demand{Pattern::all_reduce, ranks, ranks > 0 ? (bytes + ranks - 1) / ranks : 0};
  if (ranks == 0 || bytes % ranks == 0) return demand;
  for (std::uint64_t rank = 0; rank < ranks; ++rank)
    demand.contributions.push_back(bytes * (rank + 1) / ranks - bytes * rank / ranks);
  return demand;
}

constexpr std::array table{
    Collective{"all-to-all", "MPI_Alltoall", "Every rank has a different message of SIZE for every other rank.",
               Pattern::all_to_all, false, equal<Pattern::all_to_all>},
    Collective{"all-gather", "MPI_Allgather, MPI_Allgatherv",
               "Every rank contributes SIZE, and every rank gets all contributions.", Pattern::all_gather, false,
               equal<Pattern::all_gather>},
    Collective{"irregular",
               "MPI_Alltoallv, MPI_Alltoallw, MPI_Gatherv, MPI_Scatterv, MPI_Neighbor_allgather, "
               "MPI_Neighbor_allgatherv, MPI_Neighbor_alltoall, "
               "MPI_Neighbor_alltoallv, MPI_Neighbor_alltoallw",
               "Every rank sends to some others what a traffic matrix says.", Pattern::irregular, false, nullptr},
    Collective{"reduce-scatter", "MPI_Reduce_scatter_block, MPI_Reduce_scatter",
               "Every rank has a block of SIZE for every rank, and every rank gets the sum of the blocks for it.",
               Pattern::reduce_scatter, false, equal<Pattern::reduce_scatter>},
    Collective{"all-reduce", "MPI_Allreduce", "Every rank has a vector of SIZE, and every rank gets the sum of all.",
               Pattern::all_reduce, false, shared_out},
    Collective{"broadcast", "MPI_Bcast", "Every rank gets a message of SIZE from the root.", Pattern::all_gather, true,
               at_root<Pattern::all_gather>},
    Collective{"reduce", "MPI_Reduce", "Every rank has a vector of SIZE, and the root gets the sum of all.",
               Pattern::reduce_scatter, true, at_root<Pattern::reduce_scatter>},
    Collective{"gather", "MPI_Gather", "The root gets a message of SIZE from every other rank.", Pattern::irregular,
               true, with_root<true>},
    Collective{"scatter", "MPI_Scatter", "The root has a different message of SIZE for every other rank.",
               Pattern::irregular, true, with_root<false>},
};

}  // namespace

std::span<const Collective> collectives() { return table; }

bool Collective::can_follow(const Demand& planned, Rank root) const {
  if (demand == nullptr || planned.pattern != pattern) return false;
  std::uint64_t bytes = planned.bytes;
  if (pattern == Pattern::all_reduce) {  // all blocks together are its size
    bytes = 0;
    for (Rank rank = 0; rank < planned.ranks; ++rank) {
      if (planned.contribution(rank) == 0) return false;
      bytes += planned.contribution(rank);
    }
  }
  return planned == demand(planned.ranks, bytes, root);
}

const Collective& find_collective(std::string_view name) {
  std::string known;
  for (const Collective& collective : table) {
    if (collective.name == name) return collective;
    known += (known.empty() ? "" : ", ") + std::string(collective.name);
  }
  throw InputError("no collective is called '" + std::string(name.substr(0, 60)) + "'; there are " + known);
}

}  // namespace hocket
