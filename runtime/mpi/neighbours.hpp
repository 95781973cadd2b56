#pragma once
/// The peers with which a rank exchanges messages.
#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace hocket::runtime {

/// The communication pattern of a call: its peers.
struct Reach {
  enum Kind : std::uint8_t { everybody, topology, into_root, from_root };
  Kind kind = everybody;
  int root = 0;           ///< root rank, for calls with a root
  bool in_place = false;  ///< MPI_IN_PLACE with a root: the root sends no message to itself

  [[nodiscard]] bool rooted() const { return kind == into_root || kind == from_root; }
  bool operator==(const Reach&) const = default;
};

/// The other ends of a rank's messages.
struct Neighbours {
  std::vector<int> sources, destinations;
  bool everybody = false;  ///< all ranks, whether or not the communicator has a topology
  /// Cartesian, with a neighbour that is one in both directions: which of two messages is meant for which side is for
  /// the MPI library to say. The same on all ranks.
  bool ambiguous = false;
  bool erroneous = false;  ///< there is no such root
  bool weighted = false;   ///< a distributed graph whose edges have weights: these
  std::vector<int> weights_in = {}, weights_out = {};
};

/// Everybody.
[[nodiscard]] Neighbours all_ranks(MPI_Comm comm);
/// The neighbours in the communicator's topology. Nothing, on all ranks alike, if it has none.
[[nodiscard]] std::optional<Neighbours> topology_neighbours(MPI_Comm comm);
/// The peers of a call with a root. At the root, message i is for (or from) rank i, including itself unless the call is
/// in place.
[[nodiscard]] Neighbours around_root(MPI_Comm comm, Reach reach);
[[nodiscard]] std::optional<Neighbours> neighbours_of(MPI_Comm comm, Reach reach);

/// A cache of the peers of one communicator's calls.
class KnownNeighbours {
 public:
  /// Null, on all ranks alike, if it has no topology. Those of a root live until the next call of this. Local.
  [[nodiscard]] const Neighbours* find(MPI_Comm comm, Reach reach);

 private:
  /// Indexed by Reach::Kind; outer optional: asked for, inner: found.
  std::array<std::optional<std::optional<Neighbours>>, 2> all_;
  std::optional<std::pair<Reach, Neighbours>> around_root_;  ///< for the last call with a root
};

}  // namespace hocket::runtime
