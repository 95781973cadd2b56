/// Calls that may be scheduled, as the preloaded shim hands them over: blocking, nonblocking and persistent ones, with
/// counts of either size. Of those with messages of different sizes the ranks find out together who serves them.

#include <tuple>

#include "runtime/calls/serve.hpp"
#include "runtime/calls/two_level_calls.hpp"
#include "runtime/irregular/vector_exchanges.hpp"
#include "runtime/mpi/since_mpi4.hpp"
#include "runtime/progress/requests.hpp"
#include "runtime/record/record.hpp"

namespace hocket::runtime {
namespace {

/// The arguments of a call.
struct Sides {
  MPI_Comm comm;
  Reach reach;
  VectorSide sends, receives;

  [[nodiscard]] static CallKind kind() { return irregular_calls(); }
  [[nodiscard]] bool only_recorded() const noexcept { return runtime::only_recorded(comm, reach, sends, receives); }
  [[nodiscard]] VectorCall between(const Neighbours& neighbours) const { return {sends, receives, neighbours, comm}; }
};

std::uint64_t bytes_to_others(const std::optional<PeerBytes>& peer_bytes) {
  std::uint64_t bytes = 0;
  if (peer_bytes)
    for (const Volume& volume : peer_bytes->sends) bytes += volume.bytes;
  return bytes;
}

/// Before anything that other ranks take part in. A topology that is not there is missing on all of them.
bool is_erroneous_here(LibraryCall name, const Sides& sides, Team* team) {
  if (team == nullptr) return false;
  const Neighbours* const neighbours = team->neighbours(sides.comm, sides.reach);
  if (neighbours != nullptr && !erroneous(name, sides.between(*neighbours), *neighbours, sides.reach)) return false;
  note_native(neighbours == nullptr ? FallbackReason::topology : FallbackReason::erroneous);
  return true;
}

/// For the report.
std::uint64_t reported_bytes(const Sides& sides, Team* team) {
  if (!reporting || team == nullptr) return 0;
  const Neighbours* const neighbours = team->neighbours(sides.comm, sides.reach);
  return neighbours != nullptr ? bytes_to_others(sides.between(*neighbours).peer_bytes()) : 0;
}

/// Calls of which nothing is asked are passed on before anybody adds up their messages.
void note_passed_on(const Sides& sides, Team* team, FallbackReason why) {
  note_native(why, reported_bytes(sides, team), 0, reporting && team != nullptr ? team->problem_of(why) : "");
}

void note_served(const Exchange& exchange, const Sides& sides, Team& team) {
  note_scheduled(exchange, reported_bytes(sides, &team));
}

/// Null, on all ranks alike, if the MPI library is to serve all calls to them.
const Neighbours* served_neighbours(const Sides& sides, Team& team) {
  const Neighbours* const neighbours = team.neighbours(sides.comm, sides.reach);
  return neighbours != nullptr && !neighbours->ambiguous ? neighbours : nullptr;
}

/// The calls of one communicator for which the ranks find out in each who serves it.
class IrregularServing {
 public:
  IrregularServing(Team& team, const Sides& sides)
      : team_(team), comm_(sides.comm), rooted_(sides.reach.rooted()), fixed_(team.fixed_candidate()) {}

  /// False if the user says how calls are served.
  [[nodiscard]] bool is_timed() const {
    return fixed_ == nullptr && settings().min_bytes == 0 && settings().choose != Choose::off;
  }
  /// False, on all ranks alike, for a call of which nothing is asked. Ranks need not wait for each other in a rooted
  /// one, so nothing is found out in it.
  [[nodiscard]] bool asks() { return fixed_ != nullptr || (!(rooted_ && is_timed()) && team_.backoff().asks()); }

  /// Collective.
  [[nodiscard]] Server server(const VectorCall& call) {
    std::optional<PeerBytes> peer_bytes = call.peer_bytes();
    Server server;
    if (fixed_ != nullptr && !rooted_) server.exchange = team_.uneven_exchange(comm_, *fixed_);
    if (server.exchange != nullptr || (fixed_ != nullptr && fixed_->two_level)) return server;  // whatever others send
    const Volumes all = team_.vectors().ask(comm_, peer_bytes);
    if (!all.well_formed()) return {.why = FallbackReason::erroneous};
    ScheduleCache::Known& known = team_.vectors().known(all, *std::move(peer_bytes));
    if (fixed_ != nullptr) {
      plan(server, all, known, as_planned);
    } else if (is_timed()) {
      choose(server, all, known);
    } else {
      limit(server, all, known);
      team_.backoff().answered(server.exchange != nullptr, server.why == FallbackReason::new_sizes);
    }
    return server;
  }

 private:
  void choose(Server& server, const Volumes& all, ScheduleCache::Known& known) {
    const std::uint64_t unseen = team_.backoff().skipped();
    MessageSizes sizes = all.sizes(team_.size());
    sizes.come_again = known.comes_again;
    server.chosen = team_.choices().begin(comm_, irregular_calls(), sizes, true, unseen);
    team_.backoff().answered(&server.chosen.candidate() != &all_candidates[0], server.chosen.goes_on());
    server.why = FallbackReason::faster;
    server.exchange = server.chosen.exchange();
    if (server.chosen.candidate().planned) plan(server, all, known, all_candidates[1]);
  }

  void limit(Server& server, const Volumes& all, ScheduleCache::Known& known) {
    const std::uint64_t least = settings().min_bytes > 0 ? settings().min_bytes : least_bytes_scheduled;
    server.why = FallbackReason::small;
    if (all.messages == 0 || all.bytes / all.messages < least) return;
    if (!rooted_) server.exchange = team_.phases_for(comm_, all);
    if (server.exchange == nullptr) plan(server, all, known, as_planned);
  }

  /// `meanwhile`: serves sizes for which there is no schedule of their own, or none yet.
  void plan(Server& server, const Volumes& all, ScheduleCache::Known& known, const Candidate& meanwhile) {
    std::tie(server.exchange, server.why) = team_.vectors().planned(comm_, all, known);
    if (server.exchange == nullptr && !rooted_) server.exchange = team_.uneven_exchange(comm_, meanwhile);
  }

  Team& team_;
  MPI_Comm comm_;
  bool rooted_;
  const Candidate* fixed_;
};

/// Collective where ranks may wait for each other.
Server server_of_blocking(Team* team, const Sides& sides) {
  IrregularServing serving(*team, sides);
  if (!serving.is_timed() && !team->met()) team->meet(sides.comm);
  if (team->met() ? !team->could_collide() : !team->could_meet()) return {.why = team->why_native()};
  if (team->fixed_candidate() == &all_candidates[0]) return {.why = FallbackReason::faster};
  if (!serving.asks()) return {.why = sides.reach.rooted() ? FallbackReason::sizes_unknown : FallbackReason::not_asked};
  const Neighbours* const neighbours = served_neighbours(sides, *team);
  if (neighbours == nullptr) return {.why = FallbackReason::topology};
  if (!sides.reach.rooted()) {  // all ranks wait next, anyway
    complete_pending(sides.comm);
    if (team->is_time_for_ways()) follow_ways(sides.comm, *team);
  }
  return serving.server(sides.between(*neighbours));
}

void run(const Exchange& exchange, const Sides& sides, Team& team, Deadline deadline) {
  const VectorCall call = sides.between(*team.neighbours(sides.comm, sides.reach));
  if (exchange.host_team() != nullptr)
    carry_out(TwoLevelVector(exchange, call), deadline);
  else
    carry_out(VectorOperation(exchange, call), deadline);
}

/// Serves a persistent request made by the MPI library, or returns the reason why it stays the library's.
std::optional<FallbackReason> take_over(Team* team, const Sides& sides, MPI_Request* request) {
  if (team == nullptr) return FallbackReason::intercommunicator;
  if (!team->could_collide()) return team->why_native();
  if (team->fixed_candidate() == &all_candidates[0]) return FallbackReason::faster;
  const Neighbours* const neighbours = served_neighbours(sides, *team);
  if (neighbours == nullptr) return FallbackReason::topology;
  const VectorCall call = sides.between(*neighbours);
  const std::optional<PeerBytes> peer_bytes = call.peer_bytes();
  PersistentVector made = persistent_operation(*team, call, peer_bytes, sides.reach.rooted());
  if (made.operation == nullptr) return made.why;
  note_scheduled(made.operation->exchange(), bytes_to_others(peer_bytes));
  Requests::instance().serve(*request, std::move(made.operation), sides.comm);
  return std::nullopt;
}

int persistent(LibraryCall, const Sides& sides, MPI_Request* request, Native native) {
  if (recording && sides.only_recorded()) [[unlikely]]
    return native();
  return guarded(sides.comm, [&]() -> int {
    const int code = wait_in_mpi(native);
    if (code != MPI_SUCCESS) {  // the library has judged what this rank can see alone
      note_native(FallbackReason::erroneous);
      return code;
    }
    Team* const team = Team::of_any(sides.comm);
    if (const std::optional<FallbackReason> why = take_over(team, sides, request)) note_passed_on(sides, team, *why);
    return code;
  });
}

/// A nonblocking call, which knows only this rank's sizes.
struct Uneven : VectorCall {
  using Operation = VectorOperation;
  Uneven(const VectorCall& call) : VectorCall(call) {}
  [[nodiscard]] static CallKind kind() { return irregular_calls(); }
};

/// Only all ranks together know the sizes, and a nonblocking call must not wait for them: it follows phases that serve
/// all sizes, or it is the library's.
Server server_of(Team* team, const Sides& sides, Form form) {
  if (team == nullptr) return {.why = FallbackReason::intercommunicator};
  if (form == Form::blocking) return server_of_blocking(team, sides);
  if (served_neighbours(sides, *team) == nullptr) return {.why = FallbackReason::topology};
  if (sides.reach.rooted()) return {.why = FallbackReason::sizes_unknown};
  return who_serves(*team, {sides.comm, Sides::kind(), form, 1});
}

std::unique_ptr<Operation> operation_on(std::shared_ptr<PrivateChannel> channel, const Sides& sides, Team& team) {
  const Uneven call = sides.between(*team.neighbours(sides.comm, sides.reach));
  return std::make_unique<OnPrivateChannel>(std::move(channel), call, team);
}

}  // namespace
}  // namespace hocket::runtime

#define REACH(reach, shape) \
  Reach { Reach::reach, shape##_ROOT }
#define FORMS_OF_SIDES(Name, name, reach, shape, Place) \
  HOCKET_EVERY_FORM(Name, name, shape, Place, (Sides{comm, REACH(reach, shape), shape##_SIDES}))
#define FORMS_OF_BLOCKS(Name, name, Call, shape, Place) \
  HOCKET_EVERY_FORM(Name, name, shape, Place, (Call{shape##_ARGUMENTS}))
LOCALLY_SIZED_CALLS(FORMS_OF_SIDES)
GLOBALLY_SIZED_CALLS(FORMS_OF_BLOCKS)
