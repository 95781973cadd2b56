#pragma once
/// The agreement among the ranks of one communicator: plans and a private communicator, or the decision to leave calls
/// to the MPI library. It is stored as an attribute of the communicator and freed with it.
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/choose/candidate.hpp"
#include "core/network/network.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/agreement/changed_ways.hpp"
#include "runtime/choose/choices.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/irregular/vector_exchanges.hpp"
#include "runtime/mpi/neighbours.hpp"
#include "runtime/paths/pacing.hpp"
#include "runtime/plan/placement.hpp"
#include "runtime/plan/planned.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/report/report.hpp"
#include "runtime/two_level/host_team.hpp"

/// Communicators on which something is pending. While there is none the shim passes joining calls straight on.
extern "C" std::atomic<int> hocket_pending_setups;

namespace hocket::runtime {

/// Agreement, plans and exchanges of the ranks of a communicator. They are kept when the program frees it, and serve
/// the next one of the same ranks in the same order, if all of them have kept the same.
struct Setup {
  std::uint64_t number = 0;         ///< Places::number; 0: it must not serve another communicator
  std::vector<int> world_ranks;     ///< of the communicator's ranks
  std::string problem;              ///< the reason why calls go to the MPI library
  int hosts = 0;                    ///< 0: the ranks cannot follow a plan together
  bool machines_differ = true;      ///< no two hosts are one machine
  bool neighbours_collide = false;  ///< a ring in the order of ranks sends twice over some channel
  Numbering numbering;
  std::shared_ptr<PrivateComms> comms = std::make_shared<PrivateComms>();
  std::optional<PrivateComms::Lease> private_comm;
  bool private_asked = false;
  const Network* network = nullptr;
  bool network_asked = false;
  std::optional<Network> measured;
  using Way = std::pair<CallKind, std::string_view>;  ///< call kind and name of the candidate
  bool host_team_asked = false;
  std::optional<PrivateComm> between_leaders;
  std::unique_ptr<HostTeam> host_team;
  std::map<Way, std::unique_ptr<Exchange>> exchanges;  ///< null: such calls go to the MPI library
  std::unique_ptr<VectorExchanges> vectors;
};

/// A schedule of the setup serves a call as long as this lives. After a call that fails nothing is handed on.
class Serving {
 public:
  Serving(Setup& setup, double faster) : setup_(setup), paced_(settings().paths_table, faster) {}
  ~Serving() {
    if (std::uncaught_exceptions() > before_) setup_.number = 0;
  }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

 private:
  Setup& setup_;
  Paced paced_;
  int before_ = std::uncaught_exceptions();
};

struct Volumes;

class Team final : public Members {
 public:
  /// The team of an intracommunicator; made on first use, collectively: before a rank looks at anything that other
  /// ranks might see otherwise, above all limits, which it compares. Every rank gets the same kind of answer. The
  /// thread remembers the last one: asking again costs no MPI call.
  [[nodiscard]] static Team& of(MPI_Comm comm) { return *of_any(comm); }
  /// Like of(), for any communicator: null for an intercommunicator and for none. Collective.
  [[nodiscard]] static Team* of_any(MPI_Comm comm);
  /// Like of_any(), but local: until the ranks meet(), only rank(), size(), choices() and could_meet() mean something.
  [[nodiscard]] static Team* known(MPI_Comm comm);

  /// Leaves all later calls of an intracommunicator to the MPI library. Every rank must call this at the same place
  /// among the calls of the communicator; no message is sent.
  static void leave_alone(MPI_Comm comm);

  /// Fixes the candidate for all later calls whose size all ranks know. Called like leave_alone().
  void serve_by(const Candidate& candidate) { fixed_ = &candidate; }
  /// Null: nobody has said so.
  [[nodiscard]] const Candidate* fixed_candidate() const { return fixed_; }

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  /// The ranks agree on whether they can follow a plan together, which costs some collective calls. Collective.
  void meet(MPI_Comm comm);
  [[nodiscard]] bool met() const { return met_; }
  /// False where nothing could come of it.
  [[nodiscard]] bool could_meet() const { return !left_alone_ && size_ >= 3; }

  /// False if there is no plan to follow, or nothing crosses a wire that could collide.
  [[nodiscard]] bool could_collide() const { return !left_alone_ && hosts() >= 2 && size_ >= 3; }
  /// The reason for falling back where !could_meet() or !could_collide().
  [[nodiscard]] FallbackReason why_native() const {
    if (left_alone_) return problem_.empty() ? FallbackReason::left_alone : FallbackReason::no_place;
    return size_ >= 3 && hosts() == 0 ? FallbackReason::no_place : FallbackReason::few_ranks;
  }
  /// The last known explanation for `no_place` or `no_plan`; empty for other reasons or if there is none.
  [[nodiscard]] const std::string& problem_of(FallbackReason why) const;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int hosts() const override { return setup_->hosts; }
  [[nodiscard]] const Numbering& numbering() const override { return setup_->numbering; }
  [[nodiscard]] std::string place(MPI_Comm comm) override;
  [[nodiscard]] Exchange* exchange(MPI_Comm comm, CallKind kind, const Candidate& candidate = as_planned) override;
  [[nodiscard]] Exchange* made_exchange(CallKind kind, const Candidate& candidate) const override;
  [[nodiscard]] bool aggregates(CallKind kind, std::size_t bytes) const override;
  [[nodiscard]] MPI_Comm private_comm(MPI_Comm comm) override;
  [[nodiscard]] const Network* network(MPI_Comm comm) override;
  [[nodiscard]] std::uint64_t host_rate(MPI_Comm comm) override;
  void trouble(const std::string& problem) override { problem_ = problem; }
  void leave_pending() override {
    if (could_meet() && !std::exchange(pending_, true)) ++hocket_pending_setups;
  }

  /// The exchange for calls whose messages differ in size: that of MPI_Alltoall, whose phases are free of contention
  /// whatever messages weigh, or the one between leaders. Null if there is none. Collective.
  [[nodiscard]] Exchange* uneven_exchange(MPI_Comm comm, const Candidate& candidate);
  /// The same, rank by rank, for calls that are not timed: null, too, where many phases would be empty or the user has
  /// asked for an algorithm. Collective.
  [[nodiscard]] Exchange* phases_for(MPI_Comm comm, const Volumes& all);
  /// True if something is pending, which is to be done now. Local.
  [[nodiscard]] bool take_pending() {
    if (!std::exchange(pending_, false)) return false;
    --hocket_pending_setups;
    return could_meet();
  }
  /// The selection of candidates for calls whose size all ranks know, used where no size threshold decides.
  [[nodiscard]] Choices& choices();
  /// A communicator of the same ranks for an operation that others may be under way beside. Collective; nothing, on all
  /// ranks alike, where there are too many.
  [[nodiscard]] std::optional<PrivateComms::Lease> lease(MPI_Comm comm) const { return setup_->comms->lease(comm); }
  /// The size threshold for all-gathers: smaller average contributions are left to the MPI library. Its rings follow
  /// the order of ranks, so the threshold is higher where that order suits the network.
  [[nodiscard]] std::size_t least_gather_bytes() const;
  /// A schedule serves a blocking call, whose connections on planned paths keep the pace of their host's link.
  [[nodiscard]] Serving schedule_serves();
  /// True if it is time to follow_ways(): the same on all ranks.
  [[nodiscard]] bool is_time_for_ways() const { return ways_.is_time(); }
  /// Asks all ranks whether connections take other ways than plans are for. If so, all is planned anew that has not
  /// begun, and who serves calls is found out anew; true then. Reductions that have served keep their plans, and with
  /// them their results. To be called before a blocking call
  /// in which this rank would wait for all others. Collective.
  [[nodiscard]] bool follow_ways(MPI_Comm comm);
  /// The peers of this rank in a call: see KnownNeighbours.
  [[nodiscard]] const Neighbours* neighbours(MPI_Comm comm, Reach reach) { return neighbours_.find(comm, reach); }
  /// Exchanges with messages of different sizes. They are others once the ranks have met.
  [[nodiscard]] VectorExchanges& vectors();
  /// Which calls with messages of different sizes are asked about.
  [[nodiscard]] Backoff& backoff() { return backoff_; }

 private:
  explicit Team(MPI_Comm comm);
  [[nodiscard]] static Team* find_any(MPI_Comm comm);
  [[nodiscard]] std::unique_ptr<Exchange> make_exchange(MPI_Comm comm, CallKind kind, const Candidate& candidate);
  /// Made on first use, collectively. Null, on all ranks alike, where nothing is won or hosts cannot share memory.
  [[nodiscard]] const HostTeam* host_team(MPI_Comm comm);

  std::string problem_;
  int rank_ = 0, size_ = 0;
  bool left_alone_ = false;  ///< set by hocket_leave_alone, or because of ranks of other jobs
  bool met_ = false;
  bool pending_ = false;
  const Candidate* fixed_ = settings().candidate;
  AgreedWays ways_;  ///< once they have changed all plans are for network()
  KnownNeighbours neighbours_;
  Backoff backoff_;  ///< lasts while the ranks meet, unlike what is in the setup
  std::unique_ptr<Setup> setup_;
  std::unique_ptr<Choices> choices_;
};

}  // namespace hocket::runtime
