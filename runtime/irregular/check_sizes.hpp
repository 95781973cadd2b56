#pragma once
/// A check that senders and receivers of an irregular exchange agree on message sizes, before any rank waits for a
/// message.
#include <mpi.h>

#include <string>

#include "runtime/buffers/peer_bytes.hpp"

namespace hocket::runtime {

/// Describes the first mismatch by receiver, then by sender; empty if all sizes agree. Each rank gives only its own
/// messages, and all get the same answer. Collective.
[[nodiscard]] std::string why_sizes_disagree(MPI_Comm comm, const PeerBytes& peer_bytes);

}  // namespace hocket::runtime
