#include "runtime/calls/nonblocking.hpp"

#include "runtime/mpi/attached.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {
namespace {

/// Operations of one communicator that are under way in order at once. Each fills the wires by itself; a second one
/// keeps them busy while the first ends.
constexpr std::size_t channels_per_communicator = 2;

}  // namespace

void PrivateChannel::plan(CallKind kind, const Planned& planned) {
  exchanges_[kind] = std::make_shared<const Exchange>(comm(), planned, settings());
}

std::pair<PrivateChannel::Clear, PrivateChannel::Clear> PrivateChannel::queue() {
  Clear fresh = std::make_shared<std::atomic<bool>>(false);
  return {std::exchange(last_, fresh), fresh};
}

Nonblocking& Nonblocking::of(MPI_Comm comm) {
  if (Nonblocking* const found = Attached<Nonblocking>::find(comm)) return *found;
  return Attached<Nonblocking>::attach(comm, std::make_unique<Nonblocking>());
}

void Nonblocking::request_team_setup(Team& team) {
  lacks_setup_ = true;
  team.leave_pending();
}

std::shared_ptr<PrivateChannel> Nonblocking::channel(Team& team, CallKind kind) {
  Setup& setup = setups_[kind];
  if (setup.state == State::ready) return channels_[next_++ % channels_.size()];
  if (setup.state == State::unknown) {
    setup.state = State::setup_requested;
    request_team_setup(team);
  }
  return nullptr;
}

void Nonblocking::fulfil(Team& team, MPI_Comm comm) {
  if (!std::exchange(lacks_setup_, false)) return;
  team.choices().meet(comm);
  for (const auto& [kind, setup] : setups_)
    if (setup.state == State::setup_requested) prepare(team, comm, kind);
}

void Nonblocking::plan_anew(Team& team, MPI_Comm comm) {
  Nonblocking* const found = Attached<Nonblocking>::find(comm);
  if (found == nullptr) return;
  for (const auto& [kind, setup] : found->setups_)
    if (setup.state == State::ready) found->prepare(team, comm, kind);
}

void Nonblocking::prepare(Team& team, MPI_Comm comm, CallKind kind) {
  Setup& setup = setups_[kind];
  setup = {State::refused, FallbackReason::no_plan};
  const Exchange* const exchange = team.exchange(comm, kind);
  if (exchange == nullptr) return;
  if (exchange->planned().forwards() && !all_may_forward(comm)) {
    setup.why = FallbackReason::forwards;
    return;
  }
  if (channels_.empty() && !make_channels(team, comm)) return;
  for (const auto& channel : channels_) channel->plan(kind, exchange->planned());
  setup.state = State::ready;
}

bool Nonblocking::make_channels(const Team& team, MPI_Comm comm) {
  std::vector<std::shared_ptr<PrivateChannel>> channels;
  for (std::size_t i = 0; i < channels_per_communicator; ++i) {
    std::optional<PrivateComms::Lease> lease = team.lease(comm);
    if (!lease) return false;
    channels.push_back(std::make_shared<PrivateChannel>(std::move(*lease)));
  }
  channels_ = std::move(channels);
  return true;
}

void complete_pending_of(MPI_Comm comm) {
  Team* const team = Team::known(comm);
  if (team == nullptr || !team->take_pending()) return;
  team->choices().settle(comm);
  if (Nonblocking* const found = Attached<Nonblocking>::find(comm)) found->fulfil(*team, comm);
}

void follow_ways(MPI_Comm comm, Team& team) {
  if (team.follow_ways(comm)) Nonblocking::plan_anew(team, comm);
}

bool all_may_forward(MPI_Comm comm) { return !first_where(!ProgressThread::allowed(), comm); }

}  // namespace hocket::runtime

/// Before the shim calls the MPI library, in calls in which all ranks of `comm` wait for each other.
HOCKET_CALL hocket_join(MPI_Comm comm) {
  using namespace hocket::runtime;
  return guarded(comm, [&]() -> int {
    Requests::instance().post_remaining();
    complete_pending(comm);
    return MPI_SUCCESS;
  });
}
