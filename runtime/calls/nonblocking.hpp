#pragma once
/// Scheduling of a communicator's nonblocking calls (docs/decisions/0012-nonblocking-calls-wait-for-nobody.md).
#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/agreement/agreement.hpp"
#include "runtime/buffers/vector_call.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/plan/planned.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/progress/operation.hpp"
#include "runtime/report/report.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {

/// A private communicator, on which operations follow each other. Lives until the last of them is over, whatever
/// becomes of the program's communicator.
class PrivateChannel {
 public:
  explicit PrivateChannel(PrivateComms::Lease lease) : lease_(std::move(lease)) {}

  /// Operations that are under way keep the plan that they began with.
  void plan(CallKind kind, const Planned& planned);
  [[nodiscard]] MPI_Comm comm() const { return lease_.comm(); }
  [[nodiscard]] const std::shared_ptr<const Exchange>& exchange(CallKind kind) const { return exchanges_.at(kind); }

  /// Becomes true when the next operation may begin.
  using Clear = std::shared_ptr<std::atomic<bool>>;
  /// The operation before, and the new one. Null: there is none before.
  [[nodiscard]] std::pair<Clear, Clear> queue();

 private:
  PrivateComms::Lease lease_;
  std::map<CallKind, std::shared_ptr<const Exchange>> exchanges_;
  Clear last_;
};

/// The state behind the nonblocking calls of one communicator. All ranks make the same calls in the same order, so this
/// state is identical on all of them; only fulfil() waits for other ranks. It is stored as an attribute of the
/// communicator.
class Nonblocking {
 public:
  /// Local. `comm` is an intracommunicator.
  [[nodiscard]] static Nonblocking& of(MPI_Comm comm);
  /// Sets up what nonblocking calls on `comm` lacked. Collective.
  void fulfil(Team& team, MPI_Comm comm);

  /// The team plans anew: what is set up is planned anew, too. Collective.
  static void plan_anew(Team& team, MPI_Comm comm);

  Nonblocking() = default;
  Nonblocking(const Nonblocking&) = delete;
  Nonblocking& operator=(const Nonblocking&) = delete;

  /// The ranks are to get to know each other, and no more.
  void request_team_setup(Team& team);
  /// The channel of the next operation; null if there is none, which asks for setup if that helps.
  [[nodiscard]] std::shared_ptr<PrivateChannel> channel(Team& team, CallKind kind);
  /// The reason why channel() returned null.
  [[nodiscard]] FallbackReason why(CallKind kind) const { return setups_.at(kind).why; }

 private:
  enum class State : std::uint8_t { unknown, setup_requested, refused, ready };
  struct Setup {
    State state = State::unknown;
    FallbackReason why = FallbackReason::not_ready;
  };
  void prepare(Team& team, MPI_Comm comm, CallKind kind);
  [[nodiscard]] bool make_channels(const Team& team, MPI_Comm comm);

  std::map<CallKind, Setup> setups_;
  bool lacks_setup_ = false;
  std::vector<std::shared_ptr<PrivateChannel>> channels_;
  std::size_t next_ = 0;  ///< channel
};

/// True if all ranks of the communicator may have a progress thread. Collective.
[[nodiscard]] bool all_may_forward(MPI_Comm comm);

/// The same call on a communicator of the runtime's, by arguments that nobody changes: `held` outlives it.
template <class Call>
[[nodiscard]] Call held_on(MPI_Comm comm, Call call, HeldArguments& held, const Team& team) {
  if constexpr (requires { call.hold(held, team); }) call.hold(held, team);
  call.comm = comm;
  return call;
}

/// A nonblocking operation. It begins when the one before on its channel is over, or handed over.
class OnPrivateChannel final : public Operation {
 public:
  template <class Call>
  OnPrivateChannel(std::shared_ptr<PrivateChannel> channel, const Call& call, const Team& team)
      : channel_(std::move(channel)),
        exchange_(channel_->exchange(call.kind())),
        operation_(
            std::make_unique<typename Call::Operation>(*exchange_, held_on(channel_->comm(), call, held_, team))),
        clear_(channel_->queue()) {}
  ~OnPrivateChannel() override { *clear_.second = true; }

  void begin() override {
    if (!may_begin()) return;
    begun_ = true;
    operation_->begin();
  }
  [[nodiscard]] bool advance() override {
    if (!begun_) begin();
    return begun_ && operation_->advance();
  }
  [[nodiscard]] std::uint64_t moves() const override { return operation_->moves(); }
  void post_remaining() override {
    if (!begun_) begin();
    if (!begun_) return;
    operation_->post_remaining();
    if (operation_->handed_over()) *clear_.second = true;
  }
  [[nodiscard]] bool handed_over() const override { return begun_ && operation_->handed_over(); }

 private:
  [[nodiscard]] bool may_begin() const { return clear_.first == nullptr || *clear_.first; }

  std::shared_ptr<PrivateChannel> channel_;
  HeldArguments held_;
  std::shared_ptr<const Exchange> exchange_;
  std::unique_ptr<Operation> operation_;
  std::pair<PrivateChannel::Clear, PrivateChannel::Clear> clear_;
  bool begun_ = false;
};

/// Where connections take other ways now, all ranks plan for these. Only for blocking calls in which a rank waits for
/// all others: one that makes an error there takes no part, and may be waited for only where the call itself does so.
/// Collective.
void follow_ways(MPI_Comm comm, Team& team);

/// Completes what calls that wait for nobody have left: setups of nonblocking ones, who serves others. Collective.
void complete_pending_of(MPI_Comm comm);

/// In calls that wait for all ranks of the communicator, and in no others.
inline void complete_pending(MPI_Comm comm) {
  if (hocket_pending_setups.load(std::memory_order_relaxed) != 0) [[unlikely]]
    complete_pending_of(comm);
}

/// The resources of one persistent request: its own communicator, since several requests may be active at once.
struct OfRequest {
  OfRequest(PrivateComms::Lease&& leased, Planned planned)
      : lease(std::move(leased)), exchange(lease.comm(), std::move(planned), settings()) {}

  PrivateComms::Lease lease;
  Exchange exchange;
  HeldArguments held;
};

/// A scheduled call that a persistent request stands for.
template <class Scheduled>
class Persistent final : private OfRequest, public Scheduled {
 public:
  template <class Call>
  Persistent(PrivateComms::Lease&& leased, Planned planned, const Call& call, const Team& team)
      : OfRequest(std::move(leased), std::move(planned)),
        Scheduled(OfRequest::exchange, held_on(lease.comm(), call, held, team)) {}
};

}  // namespace hocket::runtime
