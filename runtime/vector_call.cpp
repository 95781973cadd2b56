#include "vector_call.hpp"

#include <algorithm>
#include <utility>

#include "mpi_call.hpp"

namespace hocket::runtime {
namespace {

int own_rank(MPI_Comm comm) {
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank));
  return rank;
}

std::vector<std::uint64_t> message_bytes(const VectorSide& side) {
  std::vector<std::uint64_t> bytes;
  if (side.peers.empty()) return bytes;
  const std::uint64_t element = bytes_of(1, side.type);
  for (std::size_t i = 0; i < side.peers.size(); ++i)
    bytes.push_back(element * static_cast<std::uint64_t>(side.counts[i]));
  return bytes;
}

std::optional<Neighbours> cartesian_neighbours(MPI_Comm comm) {
  int dimensions = 0;
  check(PMPI_Cartdim_get(comm, &dimensions));
  const auto count = static_cast<std::size_t>(dimensions);
  std::vector<int> sides(count), periodic(count), place(count);
  check(PMPI_Cart_get(comm, dimensions, sides.data(), periodic.data(), place.data()));
  Neighbours neighbours;
  for (int d = 0; d < dimensions; ++d) {
    const auto at = static_cast<std::size_t>(d);
    if (periodic[at] && sides[at] <= 2) return std::nullopt;
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    check(PMPI_Cart_shift(comm, d, 1, &below, &above));
    neighbours.sources.insert(neighbours.sources.end(), {below, above});
  }
  neighbours.destinations = neighbours.sources;
  return neighbours;
}

Neighbours graph_neighbours(MPI_Comm comm) {
  int count = 0;
  check(PMPI_Graph_neighbors_count(comm, own_rank(comm), &count));
  std::vector<int> ranks(static_cast<std::size_t>(count));
  check(PMPI_Graph_neighbors(comm, own_rank(comm), count, ranks.data()));
  return {ranks, ranks};
}

Neighbours distributed_graph_neighbours(MPI_Comm comm) {
  int sources = 0, destinations = 0, weighted = 0;
  check(PMPI_Dist_graph_neighbors_count(comm, &sources, &destinations, &weighted));
  Neighbours neighbours{std::vector<int>(static_cast<std::size_t>(sources)),
                        std::vector<int>(static_cast<std::size_t>(destinations))};
  std::vector<int> weights_in(neighbours.sources.size()), weights_out(neighbours.destinations.size());
  check(PMPI_Dist_graph_neighbors(comm, sources, neighbours.sources.data(),
                                  weighted ? weights_in.data() : MPI_UNWEIGHTED, destinations,
                                  neighbours.destinations.data(), weighted ? weights_out.data() : MPI_UNWEIGHTED));
  return neighbours;
}

}  // namespace

bool VectorSide::well_formed() const {
  if (peers.empty()) return true;
  return counts != nullptr && displacements != nullptr && type != MPI_DATATYPE_NULL &&
         std::none_of(counts, counts + peers.size(), [](int count) { return count < 0; });
}

PlacedBlocks VectorSide::blocks(MPI_Comm comm, PlacedBlocks::Copy copy) const {
  std::vector<int> lengths(peers.size(), 0);
  for (std::size_t i = 0; i < peers.size(); ++i)
    if (peers[i] >= 0) lengths[i] = counts[i];
  return {
      buffer, std::move(lengths), {displacements, displacements + peers.size()}, peers.empty() ? MPI_BYTE : type, comm,
      copy};
}

VectorCall::VectorCall(VectorSide sends, VectorSide receives, MPI_Comm communicator)
    : send(std::move(sends)), receive(std::move(receives)), comm(communicator) {
  in_place = send.buffer == MPI_IN_PLACE;
  if (in_place) send = receive;
}

std::optional<Volumes> VectorCall::volumes() const {
  if (!send.well_formed() || !receive.well_formed()) return std::nullopt;
  const auto own = static_cast<Rank>(own_rank(comm));
  std::uint64_t sent = 0, received = 0;
  Volumes volumes{sum_by_peer(send.peers, message_bytes(send), own, sent),
                  sum_by_peer(receive.peers, message_bytes(receive), own, received)};
  if (sent != received) return std::nullopt;
  return volumes;
}

Neighbours all_ranks(MPI_Comm comm) {
  int size = 0;
  check(PMPI_Comm_size(comm, &size));
  std::vector<int> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.push_back(rank);
  return {ranks, ranks};
}

std::optional<Neighbours> topology_neighbours(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  check(PMPI_Topo_test(comm, &kind));
  if (kind == MPI_CART) return cartesian_neighbours(comm);
  if (kind == MPI_GRAPH) return graph_neighbours(comm);
  if (kind == MPI_DIST_GRAPH) return distributed_graph_neighbours(comm);
  return std::nullopt;
}

}  // namespace hocket::runtime
