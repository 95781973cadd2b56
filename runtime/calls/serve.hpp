#pragma once
/// The three ways in which a call with sizes that all ranks know is served: by an exchange, or by the MPI library, on
/// all ranks alike.
///
/// `Call` describes one: AllToAllCall, GatherCall. `native` calls the MPI library with the very same arguments.
#include <mpi.h>

#include <memory>
#include <optional>
#include <utility>

#include "runtime/calls/nonblocking.hpp"
#include "runtime/calls/persistent.hpp"
#include "runtime/mpi/entry.hpp"
#include "runtime/progress/wait_in_mpi.hpp"
#include "runtime/report/report.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {

/// Why the MPI library is to serve a call, whatever may be planned; nothing if an exchange may. Depends only on what
/// all ranks of the team know alike. A few nanoseconds for calls that are too small.
template <class Call>
[[nodiscard]] std::optional<Why> why_native(const Team* team, const Call& call) {
  if (team == nullptr) return Why::intercommunicator;
  if (!team->could_collide()) return team->why_native();
  if (!call.well_formed(*team)) return Why::erroneous;
  const std::size_t bytes = call.message_bytes(*team);
  if (bytes == 0 || bytes < Call::least_bytes(*team)) return Why::small;
  if (!call.usable(*team)) return Why::erroneous;
  return std::nullopt;
}

/// Of calls that may wait for other ranks: what serves this one. Collective.
template <class Call>
[[nodiscard]] std::pair<Exchange*, Why> chosen(Team* team, const Call& call) {
  if (const std::optional<Why> why = why_native(team, call)) return {nullptr, *why};
  Exchange* const exchange = team->exchange(call.comm, call.kind());
  const bool serves = exchange != nullptr && call.suits(exchange->planned(), *team);
  return {serves ? exchange : nullptr, Why::no_plan};
}

template <class Call>
void note_passed_on(const Team* team, const Call& call, Why why) {
  const bool known = reporting && team != nullptr && call.well_formed(*team);
  note_native(why, known ? call.sent_bytes(*team) : 0);
}

template <class Call, class Native>
int blocking(const Call& call, Native native) {
  return guarded(call.comm, [&]() -> int {
    fulfil_wishes(call.comm);
    Team* const team = Team::of_any(call.comm);
    const auto [exchange, why] = chosen(team, call);
    if (exchange == nullptr) {
      note_passed_on(team, call, why);
      return wait_in_mpi(native);
    }
    typename Call::Operation operation(*exchange, call);
    operation.begin();
    finish(operation);
    note_scheduled(*exchange, call.sent_bytes(*team));
    return MPI_SUCCESS;
  });
}

/// The team of an intracommunicator, if it needs no other rank to know it.
inline Team* local_team(MPI_Comm comm) {
  if (Team* const team = Team::find(comm)) return team;
  if (!plain_intracommunicator(comm)) return nullptr;
  int size = 0;
  check(PMPI_Comm_size(comm, &size));
  return size < 3 ? Team::of_any(comm) : nullptr;  // without others there is nothing to agree on
}

template <class Call, class Native>
int nonblocking(const Call& call, MPI_Request* request, Native native) {
  return guarded(call.comm, [&]() -> int {
    Team* const team = local_team(call.comm);
    std::optional<Why> why = why_native(team, call);
    std::shared_ptr<Lane> lane;
    if (team == nullptr && plain_intracommunicator(call.comm)) {
      Nonblocking::of(call.comm).wish_for_team();
      why = Why::not_ready;
    } else if (!why) {
      Nonblocking& calls = Nonblocking::of(call.comm);
      lane = calls.lane(call.kind());
      why = calls.why(call.kind());
    }
    if (lane != nullptr && !call.suits(lane->exchange(call.kind()).planned(), *team)) {
      lane = nullptr;
      why = Why::no_plan;
    }
    if (lane == nullptr) {
      note_passed_on(team, call, *why);
      return native();
    }
    const Exchange& exchange = lane->exchange(call.kind());
    Requests::instance().begin(std::make_unique<OnLane<Call>>(std::move(lane), call, *team), request);
    note_scheduled(exchange, call.sent_bytes(*team));
    return MPI_SUCCESS;
  });
}

/// The MPI library makes the request; if the call can be scheduled the runtime serves it, else it is the library's.
template <class Call, class Native>
int persistent(const Call& call, MPI_Request* request, Native native) {
  return guarded(call.comm, [&]() -> int {
    const int code = wait_in_mpi(native);
    if (code != MPI_SUCCESS) {
      note_native(Why::erroneous);
      return code;
    }
    fulfil_wishes(call.comm);
    Team* const team = Team::of_any(call.comm);
    auto [exchange, why] = chosen(team, call);
    if (exchange != nullptr && call.kind().collective->forwards() && !all_may_forward(call.comm)) {
      exchange = nullptr;
      why = Why::forwards;
    }
    std::optional<PrivateComms::Lease> lease = exchange != nullptr ? team->lease(call.comm) : std::nullopt;
    if (!lease) {
      note_passed_on(team, call, why);
      return code;
    }
    note_scheduled(*exchange, call.sent_bytes(*team));
    using Served = Persistent<typename Call::Operation, typename Call::Own>;
    Requests::instance().serve(*request, std::make_unique<Served>(std::move(*lease), exchange->planned(), call, *team),
                               call.comm);
    return code;
  });
}

}  // namespace hocket::runtime
