/// Calls with messages of different sizes, as the preloaded shim hands them over. A call either runs a plan or is
/// passed on unchanged; which one the ranks find out together.

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "runtime/calls/nonblocking.hpp"
#include "runtime/calls/two_level_calls.hpp"
#include "runtime/calls/vector_operation.hpp"
#include "runtime/calls/who_serves.hpp"
#include "runtime/irregular/vector_exchanges.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/since_mpi4.hpp"
#include "runtime/mpi/sized_calls.h"
#include "runtime/plan/settings.hpp"
#include "runtime/progress/requests.hpp"
#include "runtime/progress/waiting.hpp"
#include "runtime/record/record.hpp"
#include "runtime/report/report.hpp"

namespace hocket::runtime {
namespace {

/// The arguments of a call, but for the communicator.
struct Sides {
  Reach reach;
  VectorSide sends, receives;

  [[nodiscard]] VectorCall between(const Neighbours& neighbours, MPI_Comm comm) const {
    return {sends, receives, neighbours, comm};
  }
};

/// The reason why no call of a communicator may be scheduled; the same on all ranks.
std::optional<FallbackReason> why_native(const Team* team) {
  if (team == nullptr) return FallbackReason::intercommunicator;
  if (!team->could_collide()) return team->why_native();
  return std::nullopt;
}

std::uint64_t bytes_to_others(const std::optional<PeerBytes>& peer_bytes) {
  std::uint64_t bytes = 0;
  if (peer_bytes)
    for (const Volume& volume : peer_bytes->sends) bytes += volume.bytes;
  return bytes;
}

/// Before anything that other ranks take part in. A topology that is not there is missing on all of them.
bool is_erroneous_here(LibraryCall name, MPI_Comm comm, const Sides& sides) {
  Team* const team = Team::known(comm);
  if (team == nullptr) return false;
  const Neighbours* const neighbours = team->neighbours(comm, sides.reach);
  if (neighbours != nullptr && !erroneous(name, sides.between(*neighbours, comm), *neighbours, sides.reach))
    return false;
  note_native(neighbours == nullptr ? FallbackReason::topology : FallbackReason::erroneous);
  return true;
}

/// For the report. Calls of which nothing is asked are passed on before anybody adds up their messages.
void note_passed_on(MPI_Comm comm, const Sides& sides, FallbackReason why) {
  std::uint64_t bytes = 0;
  if (reporting && why != FallbackReason::intercommunicator) {
    if (const Neighbours* const neighbours = Team::known(comm)->neighbours(comm, sides.reach))
      bytes = bytes_to_others(sides.between(*neighbours, comm).peer_bytes());
    if (const Team* const team = Team::find(comm)) return note_native(why, bytes, 0, team->problem_of(why));
  }
  note_native(why, bytes);
}

/// Null, on all ranks alike, if the MPI library is to serve all calls to them.
const Neighbours* served_neighbours(MPI_Comm comm, const Sides& sides, Team& team) {
  const Neighbours* const neighbours = team.neighbours(comm, sides.reach);
  return neighbours != nullptr && !neighbours->ambiguous ? neighbours : nullptr;
}

/// The calls of one communicator for which the ranks find out in each who serves it.
class IrregularServing {
 public:
  IrregularServing(Team& team, MPI_Comm comm, const Sides& sides)
      : team_(team), comm_(comm), rooted_(sides.reach.rooted()), fixed_(team.fixed_candidate()) {}

  /// False if the user says how calls are served.
  [[nodiscard]] bool is_timed() const {
    return fixed_ == nullptr && settings().min_bytes == 0 && settings().choose != Choose::off;
  }
  /// False, on all ranks alike, for a call of which nothing is asked. Ranks need not wait for each other in a rooted
  /// one, so nothing is found out in it.
  [[nodiscard]] bool asks() {
    return fixed_ != nullptr || (!(rooted_ && is_timed()) && team_.vectors().backoff().asks());
  }

  /// Collective.
  [[nodiscard]] Server server(const VectorCall& call) {
    std::optional<PeerBytes> peer_bytes = call.peer_bytes();
    Server server{.sent = bytes_to_others(peer_bytes)};
    if (fixed_ != nullptr && !rooted_) server.exchange = team_.uneven_exchange(comm_, *fixed_);
    if (server.exchange != nullptr || (fixed_ != nullptr && fixed_->two_level)) return server;  // whatever others send
    const Volumes all = team_.vectors().ask(comm_, peer_bytes);
    if (!all.well_formed()) return {.why = FallbackReason::erroneous};
    if (fixed_ != nullptr) {
      plan(server, all, *std::move(peer_bytes), as_planned);
    } else if (is_timed()) {
      choose(server, all, *std::move(peer_bytes));
    } else {
      limit(server, all, *std::move(peer_bytes));
      team_.vectors().backoff().answered(server.exchange != nullptr, server.why == FallbackReason::new_sizes);
    }
    return server;
  }

 private:
  void choose(Server& server, const Volumes& all, PeerBytes peer_bytes) {
    Backoff& backoff = team_.vectors().backoff();
    server.chosen = team_.choices().begin(comm_, irregular_calls(), all.sizes(team_.size()), true, backoff.skipped());
    backoff.answered(&server.chosen.candidate() != &all_candidates[0], server.chosen.goes_on());
    server.why = FallbackReason::faster;
    server.exchange = server.chosen.exchange();
    if (server.chosen.candidate().planned) plan(server, all, std::move(peer_bytes), all_candidates[1]);
  }

  void limit(Server& server, const Volumes& all, PeerBytes peer_bytes) {
    const std::uint64_t least = settings().min_bytes > 0 ? settings().min_bytes : least_bytes_scheduled;
    server.why = FallbackReason::small;
    if (all.messages == 0 || all.bytes / all.messages < least) return;
    if (!rooted_) server.exchange = team_.phases_for(comm_, all);
    if (server.exchange == nullptr) plan(server, all, std::move(peer_bytes), as_planned);
  }

  /// `meanwhile`: serves sizes for which there is no schedule of their own, or none yet.
  void plan(Server& server, const Volumes& all, PeerBytes peer_bytes, const Candidate& meanwhile) {
    std::tie(server.exchange, server.why) = team_.vectors().planned(comm_, all, std::move(peer_bytes));
    if (server.exchange == nullptr && !rooted_) server.exchange = team_.uneven_exchange(comm_, meanwhile);
  }

  Team& team_;
  MPI_Comm comm_;
  bool rooted_;
  const Candidate* fixed_;
};

/// `neighbours`: set where a schedule serves the call. Collective where ranks may wait for each other.
Server server_of(MPI_Comm comm, const Sides& sides, const Neighbours*& neighbours) {
  Team* const team = Team::known(comm);
  if (team == nullptr) return {.why = FallbackReason::intercommunicator};
  IrregularServing serving(*team, comm, sides);
  if (!serving.is_timed() && !team->met()) team->meet(comm);
  if (team->met() ? !team->could_collide() : !team->could_meet()) return {.why = team->why_native()};
  if (team->fixed_candidate() == &all_candidates[0]) return {.why = FallbackReason::faster};
  if (!serving.asks()) return {.why = sides.reach.rooted() ? FallbackReason::sizes_unknown : FallbackReason::not_asked};
  neighbours = served_neighbours(comm, sides, *team);
  if (neighbours == nullptr) return {.why = FallbackReason::topology};
  if (!sides.reach.rooted()) {  // all ranks wait next, anyway
    complete_pending(comm);
    if (team->is_time_for_ways()) follow_ways(comm, *team);
  }
  return serving.server(sides.between(*neighbours, comm));
}

void run(Operation&& operation, Deadline deadline) {
  operation.begin();
  finish(operation, deadline);
}

template <class Native>
int blocking(LibraryCall name, MPI_Comm comm, const Sides& sides, Native native) {
  return guarded(comm, [&]() -> int {
    if (is_erroneous_here(name, comm, sides)) return wait_in_mpi(native);
    const Neighbours* neighbours = nullptr;
    Server server = server_of(comm, sides, neighbours);
    int code = MPI_SUCCESS;
    if (server.exchange == nullptr) {
      note_passed_on(comm, sides, server.why);
      code = wait_in_mpi(native);
    } else {
      const Serving serving = Team::known(comm)->schedule_serves();  // whatever becomes of the call on this rank
      const VectorCall call = sides.between(*neighbours, comm);
      if (server.exchange->host_team() != nullptr) {
        run(TwoLevelVector(*server.exchange, call), server.chosen.deadline());
      } else {
        run(VectorOperation(*server.exchange, call), server.chosen.deadline());
      }
      note_scheduled(*server.exchange, server.sent);
    }
    server.chosen.over();
    return code;
  });
}

/// Serves a persistent request made by the MPI library, or returns the reason why it stays the library's.
std::optional<FallbackReason> take_over(Team* team, MPI_Comm comm, const Sides& sides, MPI_Request* request) {
  if (const std::optional<FallbackReason> why = why_native(team)) return why;
  if (team->fixed_candidate() == &all_candidates[0]) return FallbackReason::faster;
  const Neighbours* const neighbours = served_neighbours(comm, sides, *team);
  if (neighbours == nullptr) return FallbackReason::topology;
  const VectorCall call = sides.between(*neighbours, comm);
  const std::optional<PeerBytes> peer_bytes = call.peer_bytes();
  PersistentVector made = persistent_operation(*team, call, peer_bytes, sides.reach.rooted());
  if (made.operation == nullptr) return made.why;
  note_scheduled(made.operation->exchange(), bytes_to_others(peer_bytes));
  Requests::instance().serve(*request, std::move(made.operation), comm);
  return std::nullopt;
}

template <class Native>
int persistent(MPI_Comm comm, const Sides& sides, MPI_Request* request, Native native) {
  return guarded(comm, [&]() -> int {
    const int code = wait_in_mpi(native);
    if (code != MPI_SUCCESS) {  // the library has judged what this rank can see alone
      note_native(FallbackReason::erroneous);
      return code;
    }
    if (const std::optional<FallbackReason> why = take_over(Team::of_any(comm), comm, sides, request))
      note_passed_on(comm, sides, *why);
    return code;
  });
}

/// A nonblocking call, which knows only this rank's sizes.
struct Uneven : VectorCall {
  using Operation = VectorOperation;
  using Own = OwnSides;
  Uneven(const VectorCall& call) : VectorCall(call) {}
  [[nodiscard]] static CallKind kind() { return irregular_calls(); }
};

/// Only all ranks together know the sizes, and a nonblocking call must not wait for them: it follows phases that serve
/// all sizes, or it is the library's.
template <class Native>
int nonblocking(LibraryCall name, MPI_Comm comm, const Sides& sides, MPI_Request* request, Native native) {
  return guarded(comm, [&]() -> int {
    if (is_erroneous_here(name, comm, sides)) return native();
    Team* const team = Team::known(comm);
    const Neighbours* const neighbours = team != nullptr ? served_neighbours(comm, sides, *team) : nullptr;
    Server server{.why = team == nullptr ? FallbackReason::intercommunicator : FallbackReason::topology};
    if (neighbours != nullptr)
      server = sides.reach.rooted() ? Server{.why = FallbackReason::sizes_unknown}
                                    : who_serves(*team, {comm, irregular_calls(), Form::nonblocking, 1});
    if (server.channel == nullptr) {
      note_passed_on(comm, sides, server.why);
      return native();
    }
    const Uneven call = sides.between(*neighbours, comm);
    const std::shared_ptr<const Exchange> exchange = server.channel->exchange(irregular_calls());
    Requests::instance().begin(std::make_unique<OnPrivateChannel<Uneven>>(std::move(server.channel), call, *team), comm,
                               request);
    note_scheduled(*exchange, reporting ? bytes_to_others(call.peer_bytes()) : 0);
    return MPI_SUCCESS;
  });
}

}  // namespace
}  // namespace hocket::runtime

#define REACH(reach, shape) \
  Reach { Reach::reach, shape##_ROOT }
#define SIDES(reach, shape) {REACH(reach, shape), shape##_SIDES}
#define BLOCKING(Of, Name, name, reach, shape, Count, Place)                                             \
  HOCKET_CALL hocket_##name(shape##_PARAMETERS(Count, Place)) {                                          \
    using namespace hocket::runtime;                                                                     \
    const auto native = [&] { return PMPI_##Name(shape##_ARGUMENTS); };                                  \
    if (recording && only_recorded("MPI_" #Name, comm, REACH(reach, shape), shape##_SIDES)) [[unlikely]] \
      return native();                                                                                   \
    const Called called("MPI_" #Name);                                                                   \
    return blocking(LibraryCall::Of, comm, SIDES(reach, shape), native);                                 \
  }
#define PERSISTENT(Name, name, reach, shape, Count, Place)                                               \
  HOCKET_CALL hocket_##name(shape##_PARAMETERS(Count, Place), MPI_Info info, MPI_Request* request) {     \
    using namespace hocket::runtime;                                                                     \
    const auto native = [&] { return PMPI_##Name(shape##_ARGUMENTS, info, request); };                   \
    if (recording && only_recorded("MPI_" #Name, comm, REACH(reach, shape), shape##_SIDES)) [[unlikely]] \
      return native();                                                                                   \
    const Called called("MPI_" #Name);                                                                   \
    return persistent(comm, SIDES(reach, shape), request, native);                                       \
  }
#define NONBLOCKING(Of, Name, name, reach, shape, Count, Place)                                          \
  HOCKET_CALL hocket_##name(shape##_PARAMETERS(Count, Place), MPI_Request* request) {                    \
    using namespace hocket::runtime;                                                                     \
    const auto native = [&] { return PMPI_##Name(shape##_ARGUMENTS, request); };                         \
    if (recording && only_recorded("MPI_" #Name, comm, REACH(reach, shape), shape##_SIDES)) [[unlikely]] \
      return native();                                                                                   \
    return nonblocking(LibraryCall::Of, comm, SIDES(reach, shape), request, native);                     \
  }
#define EVERY_FORM(Name, name, reach, shape, Place)                           \
  BLOCKING(Name, Name, name, reach, shape, int, Place)                        \
  BLOCKING(Name, Name##_c, name##_c, reach, shape, MPI_Count, MPI_Aint)       \
  PERSISTENT(Name##_init, name##_init, reach, shape, int, Place)              \
  PERSISTENT(Name##_init_c, name##_init_c, reach, shape, MPI_Count, MPI_Aint) \
  NONBLOCKING(Name, I##name, i##name, reach, shape, int, Place)               \
  NONBLOCKING(Name, I##name##_c, i##name##_c, reach, shape, MPI_Count, MPI_Aint)
LOCALLY_SIZED_CALLS(EVERY_FORM)
// The sources of a room are compiled as one.
#undef BLOCKING
#undef NONBLOCKING
#undef PERSISTENT
#undef EVERY_FORM
