#pragma once
/// A communicator's calls with messages of different sizes: what all ranks send, asked by one small reduction a call,
/// and schedules that are drawn up for sizes that come again (Wang, Lin and Ranka).
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/buffers/vector_call.hpp"
#include "runtime/choose/choices.hpp"
#include "runtime/choose/kept_timings_file.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/irregular/plan_irregular.hpp"
#include "runtime/report/report.hpp"

namespace hocket::runtime {

/// A cache of a communicator's irregular exchanges: their sizes and what serves them. Every rank remembers its own row
/// and column; all learn of exchanges in the same order, so that a number means the same exchange everywhere.
class ScheduleCache {
 public:
  static constexpr std::size_t most = 63;                                 ///< exchanges remembered
  static constexpr std::uint64_t well_formed = std::uint64_t{1} << most;  ///< a bit that is no exchange's

  struct Known {
    PeerBytes peer_bytes;
    std::uint64_t digest = 0, last_use = 0;
    bool comes_again = false, tried = false;         ///< it was met before; to plan it
    FallbackReason why = FallbackReason::new_sizes;  ///< while there is no schedule
    std::unique_ptr<Exchange> exchange;              ///< its schedule
  };

  /// The known exchanges that match a call of these sizes on this rank: a bit for each, and `well_formed`. Nothing is
  /// known of a call without sizes.
  [[nodiscard]] std::uint64_t candidates(const std::optional<PeerBytes>& peer_bytes) const;
  /// The exchange that all ranks' candidates have in common (their AND); if there is none, one that nobody knows yet,
  /// in place of the one that was not used for longest.
  [[nodiscard]] Known& of(std::uint64_t common, PeerBytes peer_bytes);

 private:
  std::vector<Known> known_;
  std::uint64_t uses_ = 0;
};

/// Exponential back-off for asking what the ranks send in calls that the MPI library ends up serving. It counts answers
/// that all ranks received, so all of them skip the same calls.
class Backoff {
 public:
  /// True if this call should be asked about.
  [[nodiscard]] bool asks() {
    if (skip_ == 0) return true;
    --skip_;
    ++skipped_;
    return false;
  }
  /// Calls that were not asked about since the last answer.
  [[nodiscard]] std::uint64_t skipped() { return std::exchange(skipped_, 0); }
  /// `scheduled`: the call. `goes_on`: what the ranks are finding out needs the next one.
  void answered(bool scheduled, bool goes_on = false) {
    if (scheduled)
      in_vain_ = 0;
    else if (!goes_on && ++in_vain_ >= patience)
      skip_ = std::uint32_t{1} << std::min(in_vain_ - patience, longest);
  }

 private:
  static constexpr std::uint32_t patience = 2;  ///< answers in vain before calls are skipped
  static constexpr std::uint32_t longest = 6;   ///< then 1, 2, 4, ... and at last 2^longest of them

  std::uint32_t in_vain_ = 0, skip_ = 0;
  std::uint64_t skipped_ = 0;
};

/// The volume that all ranks send in one call.
struct Volumes {
  std::uint64_t bytes = 0, messages = 0;
  std::uint64_t squares = 0;  ///< of the messages' sizes, in units of 256 bytes
  std::uint64_t most = 0;     ///< bytes that the busiest rank sends, or gets
  std::uint64_t known = 0;    ///< ScheduleCache::candidates() of all ranks

  /// False if some rank can tell that only the MPI library can serve the call.
  [[nodiscard]] bool well_formed() const { return (known & ScheduleCache::well_formed) != 0; }
  /// True if a schedule of the equal all-to-all has few phases in which nothing is sent.
  [[nodiscard]] bool is_dense(int ranks) const;
  [[nodiscard]] MessageSizes sizes(int ranks) const;
};

class VectorExchanges {
 public:
  explicit VectorExchanges(Members& members) : members_(&members) {}
  /// From here on another communicator of the same ranks is served.
  void serve(Members& members) { members_ = &members; }

  /// `peer_bytes`: nothing if only the MPI library can serve the call, as far as this rank can tell. Collective.
  [[nodiscard]] Volumes ask(MPI_Comm comm, const std::optional<PeerBytes>& peer_bytes) const;

  /// The memory of a call's very sizes, from now on at the latest; `all`: what ask() has told of it.
  [[nodiscard]] ScheduleCache::Known& known(const Volumes& all, PeerBytes peer_bytes) {
    return schedule_cache_.of(all.known, std::move(peer_bytes));
  }
  /// The schedule for the very sizes of a call, drawn up when they come a second time, or at once if they take much
  /// longer than that; null, on all ranks alike and with the reason, if there is none (yet). Collective.
  [[nodiscard]] std::pair<const Exchange*, FallbackReason> planned(MPI_Comm comm, const Volumes& all,
                                                                   ScheduleCache::Known& known);

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

  Members* members_;
  std::unique_ptr<Planner> planner_;
  bool by_rounds_ = false;  ///< ranks agree on phases with their partners
  ScheduleCache schedule_cache_;
};

}  // namespace hocket::runtime
