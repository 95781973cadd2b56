#pragma once
/// Whether senders and receivers of an irregular exchange agree on its messages, before any rank waits for one.
#include <mpi.h>

#include <string>

#include "runtime/buffers/peer_bytes.hpp"

namespace hocket::runtime {

/// Of the first receiver, its first sender that sends something else than is expected, in words; empty: all agree. The
/// same on all ranks, which know their own messages only. Collective.
[[nodiscard]] std::string why_sizes_disagree(MPI_Comm comm, const PeerBytes& peer_bytes);

}  // namespace hocket::runtime
