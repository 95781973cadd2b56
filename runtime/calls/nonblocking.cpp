#include "runtime/calls/nonblocking.hpp"

#include "runtime/mpi/attached.hpp"
#include "runtime/mpi/entry.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/progress/requests.hpp"
#include "runtime/progress/stand_in.hpp"
#include "runtime/team/agreement.hpp"
#include "runtime/team/team.hpp"

__attribute__((visibility("default"))) std::atomic<int> hocket_wishes = 0;

namespace hocket::runtime {
namespace {

/// Operations of one communicator that are under way in order at once. Each fills the wires by itself; a second one
/// keeps them busy while the first ends.
constexpr std::size_t lanes_per_communicator = 2;

}  // namespace

void Lane::plan(CallKind kind, const Planned& planned) { exchanges_.try_emplace(kind, comm(), planned, settings()); }

std::pair<Lane::Clear, Lane::Clear> Lane::queue() {
  Clear fresh = std::make_shared<std::atomic<bool>>(false);
  return {std::exchange(last_, fresh), fresh};
}

Nonblocking& Nonblocking::of(MPI_Comm comm) {
  if (Nonblocking* const found = Attached<Nonblocking>::find(comm)) return *found;
  return Attached<Nonblocking>::attach(comm, std::make_unique<Nonblocking>());
}

void Nonblocking::wish() {
  if (std::exchange(wishes_, true)) return;
  ++hocket_wishes;
}

void Nonblocking::no_more_wishes() {
  if (std::exchange(wishes_, false)) --hocket_wishes;
}

void Nonblocking::wish_for_team() { wish(); }

std::shared_ptr<Lane> Nonblocking::lane(CallKind kind) {
  Setup& setup = setups_[kind];
  if (setup.state == State::ready) return lanes_[next_++ % lanes_.size()];
  if (setup.state == State::unknown) {
    setup.state = State::wished;
    wish();
  }
  return nullptr;
}

void Nonblocking::fulfil(MPI_Comm comm) {
  if (!plain_intracommunicator(comm)) return;
  Nonblocking* const found = Attached<Nonblocking>::find(comm);
  if (found == nullptr || !found->wishes_) return;
  found->no_more_wishes();
  Team& team = Team::of(comm);
  for (const auto& [kind, setup] : found->setups_)
    if (setup.state == State::wished) found->prepare(team, comm, kind);
}

void Nonblocking::prepare(Team& team, MPI_Comm comm, CallKind kind) {
  Setup& setup = setups_[kind];
  setup = {State::refused, Why::no_plan};
  const Exchange* const exchange = team.exchange(comm, kind);
  if (exchange == nullptr) return;
  if (kind.collective->forwards() && !all_may_forward(comm)) {
    setup.why = Why::forwards;
    return;
  }
  if (lanes_.empty() && !make_lanes(team, comm)) return;
  for (const auto& lane : lanes_) lane->plan(kind, exchange->planned());
  setup.state = State::ready;
}

bool Nonblocking::make_lanes(const Team& team, MPI_Comm comm) {
  std::vector<std::shared_ptr<Lane>> lanes;
  for (std::size_t i = 0; i < lanes_per_communicator; ++i) {
    std::optional<PrivateComms::Lease> lease = team.lease(comm);
    if (!lease) return false;
    lanes.push_back(std::make_shared<Lane>(std::move(*lease)));
  }
  lanes_ = std::move(lanes);
  return true;
}

bool all_may_forward(MPI_Comm comm) {
  const int here = StandIn::allowed() ? 1 : 0;
  int everywhere = 0;
  reduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, comm);
  return everywhere != 0;
}

}  // namespace hocket::runtime

/// Before the shim calls the MPI library, in calls in which all ranks of `comm` wait for each other.
HOCKET_CALL hocket_join(MPI_Comm comm) {
  using namespace hocket::runtime;
  return guarded(comm, [&]() -> int {
    Requests::instance().post_remaining();
    fulfil_wishes(comm);
    return MPI_SUCCESS;
  });
}
