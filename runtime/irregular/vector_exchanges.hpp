#pragma once
/// A communicator's calls with messages of different sizes: what all ranks send, asked by one small reduction a call,
/// and schedules that are drawn up for sizes that come again (Wang, Lin and Ranka).
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/choose/kept_timings_file.hpp"
#include "runtime/irregular/plan_irregular.hpp"
#include "runtime/irregular/schedule_cache.hpp"
#include "runtime/plan/numbering.hpp"
#include "runtime/report/outcome.hpp"

namespace hocket::runtime {

/// The volume that all ranks send in one call.
struct Volumes {
  std::uint64_t bytes = 0, messages = 0;
  std::uint64_t most = 0;   ///< bytes that the busiest rank sends, or gets
  std::uint64_t known = 0;  ///< ScheduleCache::candidates() of all ranks

  /// False if some rank can tell that only the MPI library can serve the call.
  [[nodiscard]] bool well_formed() const { return (known & ScheduleCache::well_formed) != 0; }
  /// True if a schedule of the equal all-to-all has few phases in which nothing is sent.
  [[nodiscard]] bool is_dense(int ranks) const;
  [[nodiscard]] MessageSizes sizes(int ranks) const;
};

class VectorExchanges {
 public:
  /// The communicator's ranks, and what makes its private communicator and its network on first use: see Team.
  struct Members {
    int rank = 0, size = 0, hosts = 0;
    const Numbering& numbering;
    std::function<MPI_Comm(MPI_Comm)> private_comm;
    std::function<const Network*(MPI_Comm)> network;
    std::function<void(const std::string&)> trouble;  ///< told why there is no plan, in words
  };
  explicit VectorExchanges(Members members) : members_(std::move(members)) {}

  /// Which calls are asked about.
  [[nodiscard]] Backoff& backoff() { return backoff_; }
  /// `peer_bytes`: nothing if only the MPI library can serve the call, as far as this rank can tell. Collective.
  [[nodiscard]] Volumes ask(MPI_Comm comm, const std::optional<PeerBytes>& peer_bytes) const;

  /// The schedule for the very sizes of a call, drawn up when they come a second time, or at once if they take much
  /// longer than that; null, on all ranks alike and with the reason, if there is none (yet). Collective.
  [[nodiscard]] std::pair<const Exchange*, FallbackReason> planned(MPI_Comm comm, const Volumes& all,
                                                                   PeerBytes peer_bytes);

  struct Made {
    std::optional<Planned> planned;
    FallbackReason why = FallbackReason::no_plan;
    std::uint64_t messages = 0;  ///< messages of all ranks
    std::uint32_t rounds = 0;    ///< in which they agreed on phases; 0: every rank has planned the whole
  };
  /// A plan for a call of which nothing is remembered, made at once. Collective; nothing, on all ranks
  /// alike, if the MPI library is to serve it.
  [[nodiscard]] Made plan(MPI_Comm comm, const PeerBytes& peer_bytes);

 private:
  /// False, on all ranks alike, where there is no network to plan for. Collective.
  [[nodiscard]] bool prepare(MPI_Comm comm);
  [[nodiscard]] Made plan_whole(MPI_Comm comm, const PeerBytes& peer_bytes) const;
  [[nodiscard]] Made plan_own(MPI_Comm comm, const PeerBytes& peer_bytes) const;

  Members members_;
  std::unique_ptr<Planner> planner_;
  bool by_rounds_ = false;  ///< ranks agree on phases with their partners
  ScheduleCache schedule_cache_;
  Backoff backoff_;
};

}  // namespace hocket::runtime
