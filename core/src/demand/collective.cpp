#include "hocket/demand/collective.hpp"

#include <array>
#include <string>

#include "hocket/error.hpp"

namespace hocket {
namespace {

template <Pattern pattern>
Demand equal(std::uint32_t ranks, std::uint64_t bytes, Rank) {
  return {pattern, ranks, bytes};
}

constexpr std::array table{
    Collective{"all-to-all", "MPI_Alltoall", "Every rank has a different message of SIZE for every other rank.",
               Pattern::all_to_all, false, equal<Pattern::all_to_all>},
    Collective{"all-gather", "MPI_Allgather, MPI_Allgatherv",
               "Every rank contributes SIZE, and every rank gets all contributions.", Pattern::all_gather, false,
               equal<Pattern::all_gather>},
    Collective{"irregular",
               "MPI_Alltoallv, MPI_Alltoallw, MPI_Neighbor_allgather, MPI_Neighbor_allgatherv, MPI_Neighbor_alltoall, "
               "MPI_Neighbor_alltoallv, MPI_Neighbor_alltoallw",
               "Every rank sends to some others what a traffic matrix says.", Pattern::irregular, false, nullptr},
};

}  // namespace

std::span<const Collective> collectives() { return table; }

const Collective& find_collective(std::string_view name) {
  std::string known;
  for (const Collective& collective : table) {
    if (collective.name == name) return collective;
    known += (known.empty() ? "" : ", ") + std::string(collective.name);
  }
  throw InputError("no collective is called '" + std::string(name.substr(0, 60)) + "'; there are " + known);
}

}  // namespace hocket
