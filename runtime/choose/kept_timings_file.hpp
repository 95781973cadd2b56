#pragma once
/// Timings kept for later runs: a file for each configuration, in the directory HOCKET_CHOICES.
#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/choose/kept_timings.hpp"
#include "core/demand/demand.hpp"
#include "runtime/plan/call_kind.hpp"
#include "runtime/plan/numbering.hpp"

namespace hocket::runtime {

/// The call name under which the timings of all irregular exchanges are kept; their layout names the class of the
/// demand.
inline constexpr std::string_view irregular_call = "irregular";

/// The key under which timings of an irregular exchange are kept.
struct DemandClass {
  std::uint64_t digest = 0;  ///< digest of senders, receivers and size classes of all messages
  std::uint64_t mean_bytes = 0;
};
[[nodiscard]] DemandClass class_of(const Demand& demand);

/// "alltoall".
[[nodiscard]] std::string call_name(CallKind kind);

/// Sixteen hexadecimal ones.
[[nodiscard]] std::string digits_of(std::uint64_t digest);

/// KeptTimings::layout of an irregular exchange; all other calls have the layout "any".
[[nodiscard]] std::string layout_of(const DemandClass& demand_class);

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

/// Adds to it. Jobs that do so at once lose nothing of each other's. Of irregular exchanges some hundreds are kept:
/// those of the last runs. By one rank; no MPI is called.
void keep_timings(const std::string& place, std::span<const KeptTimings> learned);

}  // namespace hocket::runtime
