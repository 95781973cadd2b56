/// Calls with messages of different sizes, as the preloaded shim hands them over. A call either runs a plan or is
/// passed on unchanged; which one the ranks find out together.
#include "runtime/calls/entry_vector.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "runtime/calls/judge.hpp"
#include "runtime/calls/nonblocking.hpp"
#include "runtime/calls/two_level_vector.hpp"
#include "runtime/calls/vector_operation.hpp"
#include "runtime/irregular/vector_exchanges.hpp"
#include "runtime/mpi/called.hpp"
#include "runtime/mpi/locally_sized.h"
#include "runtime/mpi/since_mpi4.hpp"
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

struct Run {
  std::optional<FallbackReason> why{};  ///< the MPI library is to serve the call; nothing: it is over
  Selection* selection = nullptr;       ///< to be told when the call is over
  Choices::Call chosen{};               ///< likewise
  bool look = false;                    ///< then it is time to find out what the ranks send
};

/// Null, on all ranks alike, if the MPI library is to serve all calls to them.
const Neighbours* served_neighbours(MPI_Comm comm, const Sides& sides, Team& team) {
  const Neighbours* const neighbours = team.neighbours(comm, sides.reach);
  return neighbours != nullptr && !neighbours->ambiguous ? neighbours : nullptr;
}

/// Finds out what the ranks have sent in this call, in so many seconds: after it, when all are there. Eight ranks of
/// MPICH on two cores take 6 ms for a reduction that is under way during their first call. Collective, before they have
/// met.
void look_at_size(MPI_Comm comm, const Sides& sides, Team& team, double seconds) {
  std::optional<PeerBytes> peer_bytes;
  if (const Neighbours* const neighbours = served_neighbours(comm, sides, team))
    peer_bytes = sides.between(*neighbours, comm).peer_bytes();
  const LookedAt found = look_at(comm, peer_bytes.value_or(PeerBytes{}), team.size(), seconds);
  team.looked_at(found.extent, found.outran_wires);
}

void run(Operation&& operation) {
  operation.begin();
  finish(operation);
}

/// Selects two-level messages or the MPI library for calls that are not planned for their sizes, like candidates of
/// other calls, by their volume when it was last compared. `why`: the reason reported if the library serves them.
/// Collective.
Run run_by_two_level(MPI_Comm comm, const Sides& sides, Team& team, FallbackReason why) {
  Run run{.why = why};
  if (sides.reach.rooted()) return run;
  const Exchange* exchange = nullptr;
  if (team.fixed_candidate() != nullptr) {
    exchange = team.irregular_two_level(comm, *team.fixed_candidate());
  } else if (settings().choose != Choose::off && team.irregular_bytes() > 0) {
    run.chosen = team.choices().begin(comm, irregular_calls(), team.irregular_bytes(), true);
    exchange = run.chosen.exchange();
  }
  if (exchange == nullptr) return run;
  const Neighbours* const neighbours = served_neighbours(comm, sides, team);
  if (neighbours == nullptr) {
    run.why = FallbackReason::topology;
    return run;
  }
  const VectorCall call = sides.between(*neighbours, comm);
  const Serving serving = team.schedule_serves();  // whatever becomes of the call on this rank
  std::optional<VectorSizes> sizes = call.sizes();
  if (!sizes) throw MpiFailure{MPI_ERR_COUNT};  // no memory holds such messages
  runtime::run(TwoLevelVector(*exchange, call, *std::move(sizes)));
  note_scheduled(*exchange, reporting ? bytes_to_others(call.peer_bytes()) : 0);
  run.why.reset();
  return run;
}

/// Runs the call by its plan if there is one. Whether there is the ranks agree on in each call: never, unless the user
/// wants that, in one from or to a root, where a rank need not wait for others.
Run run_by_plan(MPI_Comm comm, const Sides& sides) {
  Team* const team = Team::known(comm);
  if (team != nullptr && team->could_meet() && sides.reach.rooted() && settings().choose != Choose::off)
    return {.why = FallbackReason::sizes_unknown};
  const bool aggregates = team != nullptr && team->fixed_candidate() != nullptr && team->fixed_candidate()->two_level;
  if (team != nullptr && !team->met()) {
    if (settings().choose != Choose::off && team->could_meet() && !aggregates) {
      if (team->looks_at_size()) return {.why = FallbackReason::small, .look = true};
      if (!team->has_large_calls()) return run_by_two_level(comm, sides, *team, FallbackReason::not_asked);
    }
    team->meet(comm);
  }
  if (const std::optional<FallbackReason> why = why_native(team)) return {.why = why};
  if (aggregates) return run_by_two_level(comm, sides, *team, FallbackReason::no_plan);
  if (!team->vectors().asks()) return run_by_two_level(comm, sides, *team, FallbackReason::not_asked);
  const Neighbours* const neighbours = served_neighbours(comm, sides, *team);
  if (neighbours == nullptr) return {.why = FallbackReason::topology};
  complete_pending(comm);  // all ranks vote next, anyway
  if (team->is_time_for_ways()) follow_ways(comm, *team);
  const VectorCall call = sides.between(*neighbours, comm);
  std::optional<PeerBytes> peer_bytes = call.peer_bytes();
  const std::uint64_t bytes = bytes_to_others(peer_bytes);
  const VectorExchanges::Found found = team->vectors().find(comm, std::move(peer_bytes));
  if (found.extent.messages > 0) team->looked_at(found.extent, false);
  if (found.exchange == nullptr && found.selection == nullptr && found.why != FallbackReason::erroneous)
    return run_by_two_level(comm, sides, *team, found.why);
  if (found.exchange == nullptr) return {.why = found.why, .selection = found.selection};
  const Serving serving = team->schedule_serves();
  VectorOperation operation(*found.exchange, call);
  operation.begin();
  finish(operation, found.selection != nullptr ? found.selection->deadline() : never);
  note_scheduled(*found.exchange, bytes);
  return {.selection = found.selection};
}

template <class Native>
int blocking(LibraryCall name, MPI_Comm comm, const Sides& sides, Native native) {
  return guarded(comm, [&]() -> int {
    if (is_erroneous_here(name, comm, sides)) return wait_in_mpi(native);
    Run run = run_by_plan(comm, sides);
    int code = MPI_SUCCESS;
    std::chrono::steady_clock::time_point since;
    if (run.look) since = std::chrono::steady_clock::now();
    if (run.why) {
      note_passed_on(comm, sides, *run.why);
      code = wait_in_mpi(native);
    }
    if (run.selection != nullptr) run.selection->over();
    run.chosen.over();
    if (run.look) {
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - since;
      look_at_size(comm, sides, *Team::known(comm), took.count());
    }
    return code;
  });
}

/// Serves a persistent request made by the MPI library, or returns the reason why it stays the library's.
std::optional<FallbackReason> take_over(Team* team, MPI_Comm comm, const Sides& sides, MPI_Request* request) {
  if (const std::optional<FallbackReason> why = why_native(team)) return why;
  const Neighbours* const neighbours = served_neighbours(comm, sides, *team);
  if (neighbours == nullptr) return FallbackReason::topology;
  const VectorCall call = sides.between(*neighbours, comm);
  const std::optional<PeerBytes> peer_bytes = call.peer_bytes();
  PersistentVector made = persistent_operation(*team, call, peer_bytes);
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

/// Only all ranks together know the sizes, and a nonblocking call must not wait for them. The shim lets these calls
/// come here only for the report.
template <class Native>
int nonblocking(LibraryCall name, MPI_Comm comm, const Sides& sides, Native native) {
  return guarded(comm, [&]() -> int {
    if (is_erroneous_here(name, comm, sides)) return native();
    note_passed_on(comm, sides,
                   plain_intracommunicator(comm) ? FallbackReason::sizes_unknown : FallbackReason::intercommunicator);
    return native();
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
    return nonblocking(LibraryCall::Of, comm, SIDES(reach, shape), native);                              \
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
