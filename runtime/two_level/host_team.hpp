#pragma once
/// The ranks of each host act together: one of them, the leader, carries for all.
#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "core/demand/collective.hpp"
#include "runtime/two_level/host_memory.hpp"
#include "runtime/two_level/hosts.hpp"

namespace hocket::runtime {

struct HostTeam {
  Hosts hosts;
  Numbering leaders;
  std::unique_ptr<HostMemory> memory;
  MPI_Comm between_leaders = MPI_COMM_NULL;  ///< the runtime's alone; on other ranks nothing
  std::vector<std::size_t> by_leader;        ///< the hosts, in the order of their leaders in that communicator

  /// Bytes that a call with messages of `bytes` bytes needs on the fullest host; it grows with `bytes`.
  [[nodiscard]] std::size_t needed(const Collective& collective, std::size_t bytes) const;
  /// Bytes of the aggregate between two fullest hosts (all-to-all), of a fullest host's contribution (all-gather), or
  /// of one host's part of a reduction.
  [[nodiscard]] std::size_t aggregate_bytes(const Collective& collective, std::size_t bytes) const;
  [[nodiscard]] bool fits(const Collective& collective, std::size_t bytes) const {
    return needed(collective, bytes) <= memory->bytes() / 2;  // two calls may be there at once
  }
  /// True if several ranks of each host can act as leaders, which needs data that differs per destination host.
  [[nodiscard]] bool can_all_lead(const Collective& collective) const {
    return collective.pattern == Pattern::all_to_all && hosts.fewest > 1;
  }
};

/// True if a two-level (aggregated) operation implements `collective`.
[[nodiscard]] bool is_two_level(const Collective& collective);

}  // namespace hocket::runtime
