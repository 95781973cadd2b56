#pragma once
/// MPI_Alltoallv and MPI_Neighbor_alltoallv as one kind of call: messages of different sizes to and
/// from given ranks.
#include <mpi.h>

#include <optional>
#include <vector>

#include "blocks.hpp"
#include "messages.hpp"
#include "volumes.hpp"

namespace hocket::runtime {

/// Message i has counts[i] elements of `type`, begins displacements[i] extents into the buffer, and
/// goes to (or comes from) rank peers[i] of the communicator. MPI_PROC_NULL: there is none. What a rank
/// has several messages for goes there in this order.
struct VectorSide {
  void* buffer = nullptr;
  const int* counts = nullptr;
  const int* displacements = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<int> peers = {};

  /// Arguments that the standard calls erroneous are left to the MPI library, which knows what to say.
  [[nodiscard]] bool well_formed() const;
  [[nodiscard]] PlacedBlocks blocks(MPI_Comm comm, PlacedBlocks::Copy copy = PlacedBlocks::Copy::where_needed) const;
};

struct VectorCall {
  VectorSide send, receive;
  MPI_Comm comm = MPI_COMM_NULL;
  bool in_place = false;  ///< what goes out lies where something else comes in

  /// MPI_IN_PLACE sends what the receive side describes.
  VectorCall(VectorSide sends, VectorSide receives, MPI_Comm communicator);

  /// Nothing if the call is erroneous as far as this rank can tell.
  [[nodiscard]] std::optional<Volumes> volumes() const;
};

/// The other ends of a rank's messages.
struct Neighbours {
  std::vector<int> sources, destinations;
};

/// Everybody.
[[nodiscard]] Neighbours all_ranks(MPI_Comm comm);
/// Those of the communicator's topology. Nothing, on all ranks alike, if it has none, or is Cartesian
/// with a neighbour that is one in both directions: which of two messages is meant for which side is
/// for the MPI library to say.
[[nodiscard]] std::optional<Neighbours> topology_neighbours(MPI_Comm comm);

}  // namespace hocket::runtime
