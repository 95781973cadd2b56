/// Topologies, as the preloaded shim hands them over. The MPI library makes each. With HOCKET_REORDER=1, where the
/// program lets ranks be reordered and links are then loaded less by messages between neighbours, it makes it once more
/// of the same ranks in that order.

#include "core/order/order.hpp"
#include "runtime/irregular/plan_irregular.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {
namespace {

constexpr std::uint64_t most_edges = 40'000;  ///< of all ranks: to place 1,024 takes a second

/// The rank that takes each rank of the topology; empty: each its own.
std::vector<int> takers(const char* call, const Network& network, const Numbering& numbering, TrafficMatrix edges) {
  const Network part = network.restricted_to(numbering.ranks_per_node);
  const order::Call halo = order::demand_call(irregular(std::move(edges)), 1);
  const order::Order found = order::reordered(part, numbering.network_rank, {&halo, 1});
  if (found.place == numbering.network_rank) return {};
  std::vector<int> ranks;
  for (const Rank place : found.place) ranks.push_back(numbering.comm_rank[place]);
  if (settings().log > 0) {
    char gain[32];
    std::snprintf(gain, sizeof gain, "%.2g", found.gain);
    say(std::string(call) + " of " + std::to_string(ranks.size()) + " ranks: reordered (" + found.how +
        "); messages between all neighbours should be " + gain + " x as fast");
  }
  return ranks;
}

/// The same, as rank 0 finds it for all. Collective.
std::vector<int> agreed_takers(const char* call, MPI_Comm made, bool reorder) try {
  Team& team = Team::of(made);
  const Network* const network = team.could_collide() ? team.network(made) : nullptr;
  if (network == nullptr) return {};
  if (first_where(!reorder, made)) return {};
  const Neighbours neighbours = *topology_neighbours(made);
  std::vector<std::uint64_t> weights(neighbours.destinations.size(), 1);
  for (std::size_t i = 0; i < neighbours.weights_out.size(); ++i)
    weights[i] = static_cast<std::uint64_t>(std::max(neighbours.weights_out[i], 0));
  std::uint64_t kept = 0;
  TrafficMatrix edges =
      concatenate(made, sum_by_peer(neighbours.destinations, weights, static_cast<Rank>(team.rank()), kept));
  if (edges.messages() == 0 || edges.messages() > most_edges) return {};
  std::vector<int> ranks(static_cast<std::size_t>(team.size()), -1);
  std::string problem;  // of rank 0: all keep their ranks
  try_local(problem, [&] {
    if (team.rank() != 0) return;
    const std::vector<int> found = takers(call, *network, team.numbering(), std::move(edges));
    std::ranges::copy(found, ranks.begin());
  });
  run_collective(PMPI_Ibcast, ranks.data(), team.size(), MPI_INT, 0, made);
  return ranks[0] < 0 ? std::vector<int>() : ranks;
} catch (const InputError&) {  // on all ranks alike: MPICH lets neighbours pass that there are not
  return {};
}

void take_hints(MPI_Comm from, MPI_Comm to) {
  MPI_Info hints = MPI_INFO_NULL;
  check(PMPI_Comm_get_info(from, &hints));
  check(wait_in_mpi(PMPI_Comm_set_info, to, hints));
  PMPI_Info_free(&hints);
}

/// `make(comm, reorder, made)` makes the topology of a communicator.
template <class Make>
int topology(const char* call, MPI_Comm comm, int reorder, MPI_Comm* made, Make make) {
  post_remaining();
  if (!settings().reorder || made == nullptr) return make(comm, reorder, made);
  MPI_Comm before = MPI_COMM_NULL;
  if (const int code = make(comm, reorder, &before); code != MPI_SUCCESS) return code;
  *made = before;
  if (before == MPI_COMM_NULL) return MPI_SUCCESS;  // also an error of which MPICH has told the program's handler
  return guarded(comm, [&]() -> int {
    const int rank = rank_in(before);
    const std::vector<int> ranks = agreed_takers(call, before, reorder != 0);
    if (ranks.empty()) return MPI_SUCCESS;
    const auto taken = static_cast<int>(std::ranges::find(ranks, rank) - ranks.begin());
    MPI_Comm ordered = MPI_COMM_NULL, remade = MPI_COMM_NULL;
    if (const int code = wait_in_mpi(PMPI_Comm_split, before, 0, taken, &ordered); code != MPI_SUCCESS) return code;
    const int code = make(ordered, 0, &remade);
    PMPI_Comm_free(&ordered);
    if (remade == MPI_COMM_NULL) return code;
    take_hints(before, remade);
    PMPI_Comm_free(&before);
    *made = remade;
    return MPI_SUCCESS;
  });
}

/// The neighbours that a rank has given are for the one that takes its place.
int make_of_taken(MPI_Comm before, MPI_Comm ordered, MPI_Info info, MPI_Comm* made) {
  const Neighbours said = *topology_neighbours(before);
  std::vector<int> own{static_cast<int>(said.sources.size()), static_cast<int>(said.destinations.size()),
                       said.weighted};
  for (const auto* part : {&said.sources, &said.destinations, &said.weights_in, &said.weights_out})
    own.insert(own.end(), part->begin(), part->end());
  const int rank = rank_in(before);
  int length = 0;
  MPI_Request sending = MPI_REQUEST_NULL;
  check(PMPI_Isend(own.data(), static_cast<int>(own.size()), MPI_INT, rank, 0, ordered, &sending));
  MPI_Status status;
  check(wait_in_mpi(PMPI_Probe, MPI_ANY_SOURCE, 0, ordered, &status));
  check(PMPI_Get_count(&status, MPI_INT, &length));
  std::vector<int> taken(static_cast<std::size_t>(length));
  check(wait_in_mpi(PMPI_Recv, taken.data(), length, MPI_INT, status.MPI_SOURCE, 0, ordered, MPI_STATUS_IGNORE));
  wait_until_done(sending);
  const int in = taken[0], out = taken[1];
  const int *const sources = taken.data() + 3, *const destinations = sources + in, *const weights = destinations + out;
  const auto weights_or = [&](int count, const int* given) -> const int* {
    return !taken[2] ? MPI_UNWEIGHTED : count == 0 ? MPI_WEIGHTS_EMPTY : given;
  };
  return PMPI_Dist_graph_create_adjacent(ordered, in, sources, weights_or(in, weights), out, destinations,
                                         weights_or(out, weights + in), info, 0, made);
}

}  // namespace
}  // namespace hocket::runtime

using namespace hocket::runtime;

HOCKET_CALL hocket_cart_create(MPI_Comm comm, int dimensions, const int* sides, const int* periodic, int reorder,
                               MPI_Comm* made) {
  return topology("MPI_Cart_create", comm, reorder, made, [&](MPI_Comm of, int may, MPI_Comm* result) {
    return PMPI_Cart_create(of, dimensions, sides, periodic, may, result);
  });
}

HOCKET_CALL hocket_graph_create(MPI_Comm comm, int nodes, const int* index, const int* edges, int reorder,
                                MPI_Comm* made) {
  return topology("MPI_Graph_create", comm, reorder, made, [&](MPI_Comm of, int may, MPI_Comm* result) {
    return PMPI_Graph_create(of, nodes, index, edges, may, result);
  });
}

HOCKET_CALL hocket_dist_graph_create(MPI_Comm comm, int count, const int* sources, const int* degrees,
                                     const int* destinations, const int* weights, MPI_Info info, int reorder,
                                     MPI_Comm* made) {
  return topology("MPI_Dist_graph_create", comm, reorder, made, [&](MPI_Comm of, int may, MPI_Comm* result) {
    return PMPI_Dist_graph_create(of, count, sources, degrees, destinations, weights, info, may, result);
  });
}

HOCKET_CALL hocket_dist_graph_create_adjacent(MPI_Comm comm, int in, const int* sources, const int* weights_in, int out,
                                              const int* destinations, const int* weights_out, MPI_Info info,
                                              int reorder, MPI_Comm* made) {
  return topology("MPI_Dist_graph_create_adjacent", comm, reorder, made, [&](MPI_Comm of, int may, MPI_Comm* result) {
    if (of != comm) return make_of_taken(*made, of, info, result);
    return PMPI_Dist_graph_create_adjacent(of, in, sources, weights_in, out, destinations, weights_out, info, may,
                                           result);
  });
}
