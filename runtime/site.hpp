#pragma once
/// The network as the ranks of one communicator see it.
#include <mpi.h>

#include <cstdint>

#include "hocket/network/network.hpp"
#include "numbering.hpp"

namespace hocket::runtime {

struct Site {
  Network network;       ///< its ranks are those of the communicator, in host order
  Numbering numbering;   ///< of them
  std::uint64_t digest;  ///< of all this; the same on all ranks
};

/// Collective. The network of the plans, restricted to the hosts of these ranks; without plans every rank is a host of
/// one switch. Throws ApiError, on all ranks alike, if some rank has no place in the network, or if plans or
/// settings differ.
[[nodiscard]] Site site_of(MPI_Comm comm);

}  // namespace hocket::runtime
