#pragma once
/// The network as the ranks of one communicator see it.
#include <mpi.h>

#include <cstdint>

#include "core/network/network.hpp"
#include "runtime/plan/numbering.hpp"

namespace hocket::runtime {

struct Site {
  Network network;              ///< its ranks are those of the communicator, in host order
  Numbering numbering;          ///< numbering of these ranks
  std::uint64_t digest;         ///< digest of network and numbering; the same on all ranks
  bool machines_differ = true;  ///< see Places
};

/// Collective. The network of the plans, restricted to the hosts of these ranks; without plans every rank is a host of
/// one switch. Throws ApiError, on all ranks alike, where these cannot follow a plan together (Places).
[[nodiscard]] Site site_of(MPI_Comm comm);

/// The site's network by which to plan: where the launcher only assumed how wide uplinks are, as wide as they are
/// measured, by what is known or by measuring now. Where they cannot be measured, as assumed, with a warning.
/// Collective; nobody else uses `own` meanwhile. Throws MpiFailure.
[[nodiscard]] Network network_to_plan(MPI_Comm own, const Site& site);

}  // namespace hocket::runtime
