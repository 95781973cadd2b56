#pragma once
/// Timings kept for later runs: a file for each configuration, in the directory HOCKET_CHOICES.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/choose/kept_timings.hpp"
#include "runtime/plan/placement.hpp"
#include "runtime/plan/planned.hpp"

namespace hocket::runtime {

/// The messages of a call, as far as its cost depends on them.
struct MessageSizes {
  std::size_t bytes = 0;  ///< of a message; where they differ, the mean over all pairs of ranks
  /// Where they differ: the pairs of ranks for each message, as a power of 4, 3 at most; and by how much: the mean of
  /// their squares over the square of their mean is 1.3 at most of uniform sizes, 2 of exponential ones (1), and more
  /// than 4 where a few carry most (2).
  std::uint8_t sparse = 0, skewed = 0;
  bool come_again = false;  ///< these very sizes
  std::uint64_t most = 0;   ///< bytes that the busiest rank sends or gets; 0: every rank has as many

  /// True if calls of both cost about the same. Means are compared as they are: those of calls whose sizes change may
  /// lie on both sides of a limit between classes.
  [[nodiscard]] bool alike(const MessageSizes& other) const {
    if (most == 0) return size_class(bytes) == size_class(other.bytes);
    const auto [less, more] = std::minmax(bytes, other.bytes);
    return sparse == other.sparse && skewed == other.skewed && more - less <= less / 4;
  }
};

/// "alltoall".
[[nodiscard]] std::string call_name(CallKind kind);

/// KeptTimings::layout: "any", or the classes of sizes that differ.
[[nodiscard]] std::string layout_of(CallKind kind, const MessageSizes& sizes);

/// Sixteen digits that differ wherever timings might: eight for network, number of ranks, MPI library and settings of
/// exchanges, which a rank knows alone; eight for hosts and the order of ranks.
[[nodiscard]] std::string place_digest(std::uint64_t wiring_digest, const Numbering& numbering);

/// True if timings are kept for a configuration whose local part of the digest matches this one. Local.
[[nodiscard]] bool is_anything_kept(int ranks);

/// "mpich-5.0.2"; "unknown".
[[nodiscard]] std::string mpi_name();

/// Reads the timings kept for a configuration; the result is the same on all ranks. An unreadable or invalid file
/// counts as empty, with one warning. Collective.
[[nodiscard]] std::vector<KeptTimings> kept_timings(MPI_Comm comm, const std::string& place);

/// Adds to it. Jobs that do so at once lose nothing of each other's. By one rank; no MPI is called.
void keep_timings(const std::string& place, std::span<const KeptTimings> learned);

}  // namespace hocket::runtime
