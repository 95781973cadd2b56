#pragma once
/// The schedules of a communicator's irregular exchanges, looked up with one small reduction per call.
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

/// Total volume of a call that the library served.
struct LookedAt {
  Extent extent;
  bool outran_wires;  ///< it took less than half of what the wires need for it, as they are described
};

/// `seconds`: of the call, on this rank. Collective.
[[nodiscard]] LookedAt look_at(MPI_Comm comm, const PeerBytes& peer_bytes, int ranks, double seconds);

class VectorExchanges {
 public:
  /// The communicator's ranks, and what makes its private communicator and its network on first use: see Team.
  struct Members {
    int rank = 0, size = 0, hosts = 0;
    const Numbering& numbering;
    std::function<MPI_Comm(MPI_Comm)> private_comm;
    std::function<const Network*(MPI_Comm)> network;
    /// See Choices::of_irregular().
    std::function<std::shared_ptr<Selection>(MPI_Comm, DemandClass, double)> selection;
    std::function<void(const std::string&)> trouble;  ///< told why there is no plan, in words
  };
  explicit VectorExchanges(Members members) : members_(std::move(members)) {}

  /// False, on all ranks alike, while calls go to the MPI library unseen. To be asked once per call.
  [[nodiscard]] bool asks() { return backoff_.asks(); }
  /// The exchange that serves a call; null, on all ranks alike, if the MPI library serves it.
  struct Found {
    const Exchange* exchange = nullptr;
    FallbackReason why = FallbackReason::erroneous;
    Extent extent;                   ///< nothing: not known
    Selection* selection = nullptr;  ///< a selection under way, to be told when the call is over
  };
  /// For a call of these sizes; nothing: only the MPI library can serve it, as far as this rank can tell. Collective.
  [[nodiscard]] Found find(MPI_Comm comm, std::optional<PeerBytes> peer_bytes);

  struct Made {
    std::optional<Planned> planned;
    FallbackReason why = FallbackReason::no_plan;
    DemandClass demand_class;
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
  [[nodiscard]] ScheduleCache::Known* recognised(MPI_Comm comm, std::optional<PeerBytes> peer_bytes);

  Members members_;
  std::unique_ptr<Planner> planner_;
  bool by_rounds_ = false;  ///< ranks agree on phases with their partners
  ScheduleCache schedule_cache_;
  Backoff backoff_;
};

}  // namespace hocket::runtime
