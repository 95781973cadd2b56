#pragma once
/// With whom a rank exchanges messages.
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace hocket::runtime {

/// With whom a call exchanges messages.
enum class Reach : std::uint8_t { everybody, topology };

/// The other ends of a rank's messages.
struct Neighbours {
  std::vector<int> sources, destinations;
  bool everybody = false;  ///< whether there is a topology or not
  /// Cartesian, with a neighbour that is one in both directions: which of two messages is meant for which side is for
  /// the MPI library to say. The same on all ranks.
  bool ambiguous = false;
};

/// Everybody.
[[nodiscard]] Neighbours all_ranks(MPI_Comm comm);
/// Those of the communicator's topology. Nothing, on all ranks alike, if it has none.
[[nodiscard]] std::optional<Neighbours> topology_neighbours(MPI_Comm comm);
[[nodiscard]] inline std::optional<Neighbours> neighbours_of(MPI_Comm comm, Reach reach) {
  return reach == Reach::everybody ? all_ranks(comm) : topology_neighbours(comm);
}

}  // namespace hocket::runtime
