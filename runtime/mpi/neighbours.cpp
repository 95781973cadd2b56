#include "runtime/mpi/neighbours.hpp"

#include <numeric>

#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {
namespace {

Neighbours cartesian_neighbours(MPI_Comm comm) {
  int dimensions = 0;
  check(PMPI_Cartdim_get(comm, &dimensions));
  const auto count = static_cast<std::size_t>(dimensions);
  std::vector<int> sides(count), periodic(count), place(count);
  check(PMPI_Cart_get(comm, dimensions, sides.data(), periodic.data(), place.data()));
  Neighbours neighbours;
  for (int d = 0; d < dimensions; ++d) {
    const auto at = static_cast<std::size_t>(d);
    neighbours.ambiguous |= periodic[at] && sides[at] <= 2;
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    check(PMPI_Cart_shift(comm, d, 1, &below, &above));
    neighbours.sources.insert(neighbours.sources.end(), {below, above});
  }
  neighbours.destinations = neighbours.sources;
  return neighbours;
}

Neighbours graph_neighbours(MPI_Comm comm) {
  const int own = rank_in(comm);
  int count = 0;
  check(PMPI_Graph_neighbors_count(comm, own, &count));
  std::vector<int> ranks(static_cast<std::size_t>(count));
  check(PMPI_Graph_neighbors(comm, own, count, ranks.data()));
  return {ranks, ranks};
}

Neighbours distributed_graph_neighbours(MPI_Comm comm) {
  int sources = 0, destinations = 0, weighted = 0;
  check(PMPI_Dist_graph_neighbors_count(comm, &sources, &destinations, &weighted));
  Neighbours neighbours{std::vector<int>(static_cast<std::size_t>(sources)),
                        std::vector<int>(static_cast<std::size_t>(destinations))};
  neighbours.weighted = weighted != 0;
  if (weighted) neighbours.weights_in.resize(neighbours.sources.size());
  if (weighted) neighbours.weights_out.resize(neighbours.destinations.size());
  check(PMPI_Dist_graph_neighbors(
      comm, sources, neighbours.sources.data(), weighted ? neighbours.weights_in.data() : MPI_UNWEIGHTED, destinations,
      neighbours.destinations.data(), weighted ? neighbours.weights_out.data() : MPI_UNWEIGHTED));
  return neighbours;
}

}  // namespace

Neighbours all_ranks(MPI_Comm comm) {
  std::vector<int> ranks(static_cast<std::size_t>(size_of(comm)));
  std::iota(ranks.begin(), ranks.end(), 0);
  return {ranks, ranks, true};
}

std::optional<Neighbours> topology_neighbours(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  check(PMPI_Topo_test(comm, &kind));
  if (kind == MPI_CART) return cartesian_neighbours(comm);
  if (kind == MPI_GRAPH) return graph_neighbours(comm);
  if (kind == MPI_DIST_GRAPH) return distributed_graph_neighbours(comm);
  return std::nullopt;
}

Neighbours around_root(MPI_Comm comm, Reach reach) {
  const int own = rank_in(comm), size = size_of(comm);
  Neighbours neighbours;
  neighbours.erroneous = reach.root < 0 || reach.root >= size;
  if (neighbours.erroneous) return neighbours;
  const bool gathers = reach.kind == Reach::into_root;
  auto& of_root = gathers ? neighbours.sources : neighbours.destinations;
  auto& of_each = gathers ? neighbours.destinations : neighbours.sources;
  if (own != reach.root) {
    of_each = {reach.root};
    return neighbours;
  }
  const auto at_root = static_cast<std::size_t>(own);
  of_root.resize(static_cast<std::size_t>(size));
  std::iota(of_root.begin(), of_root.end(), 0);
  if (reach.in_place) {
    of_root[at_root] = MPI_PROC_NULL;
    return neighbours;
  }
  of_each.assign(of_root.size(), MPI_PROC_NULL);
  of_each[at_root] = own;
  return neighbours;
}

std::optional<Neighbours> neighbours_of(MPI_Comm comm, Reach reach) {
  if (reach.rooted()) return around_root(comm, reach);
  return reach.kind == Reach::everybody ? all_ranks(comm) : topology_neighbours(comm);
}

const Neighbours* KnownNeighbours::find(MPI_Comm comm, Reach reach) {
  if (reach.rooted()) {
    if (!around_root_ || around_root_->first != reach) around_root_.emplace(reach, around_root(comm, reach));
    return &around_root_->second;
  }
  auto& known = all_[static_cast<std::size_t>(reach.kind)];
  if (!known) known = neighbours_of(comm, reach);
  return *known ? &**known : nullptr;
}

}  // namespace hocket::runtime
