#pragma once
/// The one decision on who serves a call, a schedule or the MPI library, on all ranks alike, and the three ways in
/// which a call with sizes that all ranks know is served then. Of irregular calls only the nonblocking ones are decided
/// on here: for the others ranks find out about sizes first (entry_sized.cpp).
///
/// `Call` describes one: AllToAllCall, GatherCall, ReductionCall, BroadcastCall. `native` calls the MPI library with
/// the very same arguments.
#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/buffers/vector_call.hpp"
#include "runtime/calls/block_calls.hpp"
#include "runtime/calls/nonblocking.hpp"
#include "runtime/calls/vector_operation.hpp"
#include "runtime/choose/choices.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/refusals.hpp"
#include "runtime/plan/planned.hpp"
#include "runtime/progress/waiting.hpp"
#include "runtime/report/report.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {

/// A call, as far as it decides on who serves it. The same on all ranks.
struct Facts {
  MPI_Comm comm;
  CallKind kind;
  Form form;
  std::size_t bytes;     ///< of a message; of nonblocking irregular calls nobody knows it
  bool waits = false;    ///< a rank cannot end it before all others have begun it; only then they agree on anything
  bool settled = false;  ///< its result depends on who serves it: one candidate serves all calls like it
  bool has_two_level = false;                  ///< ranks of a host can serve it together
  std::optional<FallbackReason> refused = {};  ///< the reason why ranks can do it in no way
};

struct Server {
  const Exchange* exchange = nullptr;  ///< null: the MPI library
  FallbackReason why = FallbackReason::no_plan;
  Choices::Call chosen = {};                          ///< to be told when a blocking call is over
  std::shared_ptr<PrivateChannel> channel = nullptr;  ///< of a nonblocking call that a schedule serves
};

/// Local for nonblocking calls. Others are collective where all ranks wait, or where the user has said who serves
/// calls; else they take what is there.
[[nodiscard]] Server who_serves(Team& team, const Facts& call);

/// True of a call in whose arguments the MPI library finds an error before it waits for any
/// other rank. Such a call goes to the library at once: it is not counted, and nothing is agreed, voted on, met or
/// looked at for it, since other ranks may not make it at all
/// (docs/decisions/0050-local-errors-never-move-collective-state.md).
///
/// Other ranks may count every call that is not erroneous here, so this one takes part in what becomes of it.
/// `name`: of the call, whatever its form. Local; well below a microsecond.
[[nodiscard]] bool erroneous(LibraryCall name, const AllToAllCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const GatherCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const BroadcastCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const AllReduceCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const ReduceScatterCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const ReduceCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const RootCall& call, const Team& team);
/// `reach`: as the neighbours of the call were found by it.
[[nodiscard]] bool erroneous(LibraryCall name, const VectorCall& call, const Neighbours& neighbours, Reach reach);

template <class Call>
[[nodiscard]] Facts facts_of(const Team& team, const Call& call, Form form) {
  Facts facts{call.comm, call.kind(), form, call.message_bytes(team)};
  facts.waits = !facts.kind.collective->rooted && facts.bytes > 0;
  if constexpr (requires { call.concerns_all(team); }) facts.waits = facts.waits && call.concerns_all(team);
  if constexpr (requires { typename Call::TwoLevel; }) facts.has_two_level = true;
  if constexpr (requires { call.reduced(form, facts.settled); }) facts.refused = call.reduced(form, facts.settled);
  return facts;
}

/// Before all ranks wait for each other what they have left is completed: in blocking calls.
template <class Call>
[[nodiscard]] Server server_of(Team* team, const Call& call, Form form) {
  if (team == nullptr) return {.why = FallbackReason::intercommunicator};
  const Facts facts = facts_of(*team, call, form);
  if (facts.waits && form == Form::blocking) {
    complete_pending(call.comm);
    if (team->is_time_for_ways()) follow_ways(call.comm, *team);
  }
  return who_serves(*team, facts);
}

/// `team`: null for an intercommunicator.
template <class Call>
void note_passed_on(const Call& call, const Team* team, FallbackReason why) {
  if (!reporting || team == nullptr) return note_native(why);
  const bool has_root = call.kind().collective->rooted;
  note_native(why, call.sent_bytes(*team), has_root ? call.message_bytes(*team) : 0, team->problem_of(why));
}

template <class Call>
void note_served(const Exchange& exchange, const Call& call, const Team& team) {
  note_scheduled(exchange, call.sent_bytes(team), call.message_bytes(team), call.kind().collective->rooted);
}

inline void carry_out(Operation&& operation, Deadline deadline) {
  operation.begin();
  finish(operation, deadline);
}

/// Runs the call by a schedule, on this rank.
template <class Call>
void run(const Exchange& exchange, const Call& call, Team&, Deadline deadline) {
  if constexpr (requires { typename Call::TwoLevel; })
    if (exchange.host_team() != nullptr) return carry_out(typename Call::TwoLevel(exchange, call), deadline);
  carry_out(typename Call::Operation(exchange, call), deadline);
}

/// Before anything that other ranks take part in.
template <class Call>
[[nodiscard]] bool is_erroneous_here(LibraryCall name, const Call& call, const Team* team) {
  if (team == nullptr || !erroneous(name, call, *team)) return false;
  note_native(FallbackReason::erroneous);
  return true;
}

template <class Call>
[[nodiscard]] std::unique_ptr<Operation> operation_on(std::shared_ptr<PrivateChannel> channel, const Call& call,
                                                      const Team& team) {
  return std::make_unique<OnPrivateChannel>(std::move(channel), call, team);
}

/// The functions above say what becomes of a call; entry_sized.cpp has its own for calls of different sizes.
template <class Call>
int blocking(LibraryCall name, const Call& call, Native native) {
  if (recording && call.only_recorded()) [[unlikely]]
    return native();
  return guarded(call.comm, [&]() -> int {
    Team* const team = Team::known(call.comm);
    if (is_erroneous_here(name, call, team)) return wait_in_mpi(native);
    Server server = server_of(team, call, Form::blocking);
    int code = MPI_SUCCESS;
    if (server.exchange == nullptr) {
      note_passed_on(call, team, server.why);
      code = wait_in_mpi(native);
    } else {
      const Serving serving = team->schedule_serves();  // whatever becomes of the call on this rank
      run(*server.exchange, call, *team, server.chosen.deadline());
      note_served(*server.exchange, call, *team);
    }
    server.chosen.over();
    return code;
  });
}

template <class Call>
int nonblocking(LibraryCall name, const Call& call, MPI_Request* request, Native native) {
  if (recording && call.only_recorded()) [[unlikely]]
    return native();
  return guarded(call.comm, [&]() -> int {
    Team* const team = Team::known(call.comm);
    if (is_erroneous_here(name, call, team)) return native();
    Server server = server_of(team, call, Form::nonblocking);
    if (server.channel == nullptr) {
      note_passed_on(call, team, server.why);
      return native();
    }
    const std::shared_ptr<const Exchange> exchange = server.channel->exchange(call.kind());
    Requests::instance().begin(operation_on(std::move(server.channel), call, *team), call.comm, request);
    note_served(*exchange, call, *team);
    return MPI_SUCCESS;
  });
}

/// The MPI library makes the request; if the call can be scheduled the runtime serves it, else it is the library's.
template <class Call>
int persistent(LibraryCall name, const Call& call, MPI_Request* request, Native native) {
  if (recording && call.only_recorded()) [[unlikely]]
    return native();
  return guarded(call.comm, [&]() -> int {
    Team* const team = Team::known(call.comm);
    const bool wrong = is_erroneous_here(name, call, team);
    const int code = wait_in_mpi(native);
    if (wrong) return code;
    if (code != MPI_SUCCESS) {
      note_native(FallbackReason::erroneous);
      return code;
    }
    complete_pending(call.comm);
    Server server = server_of(team, call, Form::persistent);
    const Exchange*& exchange = server.exchange;
    if (exchange != nullptr && exchange->planned().forwards() && !all_may_forward(call.comm))
      server = {.why = FallbackReason::forwards};
    std::optional<PrivateComms::Lease> lease = exchange != nullptr ? team->lease(call.comm) : std::nullopt;
    if (!lease) {
      note_passed_on(call, team, server.why);
      return code;
    }
    note_served(*exchange, call, *team);
    using Managed = Persistent<typename Call::Operation>;
    Requests::instance().serve(*request, std::make_unique<Managed>(std::move(*lease), exchange->planned(), call, *team),
                               call.comm);
    return code;
  });
}

}  // namespace hocket::runtime

/// One name of a call as the shim hands it over.
#define HOCKET_ENTRY(Name, name, parameters, arguments, served) \
  HOCKET_CALL hocket_##name parameters {                        \
    using namespace hocket::runtime;                            \
    const auto native = [&] { return PMPI_##Name arguments; };  \
    const Called called("MPI_" #Name);                          \
    return served;                                              \
  }
#define HOCKET_SIZED(Name, name, c, shape, Count, Place, call)                                      \
  HOCKET_ENTRY(Name##c, name##c, (shape##_PARAMETERS(Count, Place)), (shape##_ARGUMENTS),           \
               blocking(LibraryCall::Name, call, native))                                           \
  HOCKET_ENTRY(I##name##c, i##name##c, (shape##_PARAMETERS(Count, Place), MPI_Request * request),   \
               (shape##_ARGUMENTS, request), nonblocking(LibraryCall::Name, call, request, native)) \
  HOCKET_ENTRY(Name##_init##c, name##_init##c,                                                      \
               (shape##_PARAMETERS(Count, Place), MPI_Info info, MPI_Request * request),            \
               (shape##_ARGUMENTS, info, request), persistent(LibraryCall::Name, call, request, native))
/// Every form of a call, with counts of either size. `call` describes it.
#define HOCKET_EVERY_FORM(Name, name, shape, Place, call) \
  HOCKET_SIZED(Name, name, , shape, int, Place, call)     \
  HOCKET_SIZED(Name, name, _c, shape, MPI_Count, MPI_Aint, call)
