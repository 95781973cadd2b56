#pragma once
/// The three ways in which a call with sizes that all ranks know is served: by an exchange, or by the MPI library, on
/// all ranks alike.
///
/// `Call` describes one: AllToAllCall, GatherCall, ReductionCall, BroadcastCall. `native` calls the MPI library with
/// the very same arguments.
#include <mpi.h>

#include <memory>
#include <optional>
#include <utility>

#include "runtime/calls/form.hpp"
#include "runtime/calls/judge.hpp"
#include "runtime/calls/nonblocking.hpp"
#include "runtime/calls/persistent.hpp"
#include "runtime/mpi/entry.hpp"
#include "runtime/progress/waiting.hpp"
#include "runtime/report/report.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {

/// The reason why the MPI library must serve a call, whatever plan exists. It depends only on data that is identical on
/// all ranks of the team. Takes a few nanoseconds.
template <class Call>
[[nodiscard]] std::optional<FallbackReason> why_native(const Team* team, const Call& call, std::size_t least,
                                                       Form form) {
  if (team == nullptr) return FallbackReason::intercommunicator;
  if (team->met() ? !team->could_collide() : !team->could_meet()) return team->why_native();
  const std::size_t bytes = call.message_bytes(*team);
  if (bytes == 0 || bytes < least) return FallbackReason::small;
  if constexpr (requires { call.refused(form); }) return call.refused(form);
  return std::nullopt;
}

/// True if the candidate for this call must not change while the program runs, because the result depends on it.
template <class Call>
[[nodiscard]] bool is_settled(const Call& call) {
  if constexpr (requires { call.settled(); }) return call.settled();
  return false;
}

/// True if the candidate is selected by timing: the user has set no size threshold, and the result does not depend on
/// the candidate.
template <class Call>
[[nodiscard]] bool is_chosen(const Call& call) {
  return Call::limit() == 0 && settings().choose != Choose::off && !is_settled(call);
}

/// True if one candidate serves all calls like this one, chosen before the first of them.
template <class Call>
[[nodiscard]] bool is_decided_once(const Team& team, const Call& call) {
  return is_settled(call) && Call::limit() == 0 && settings().choose != Choose::off &&
         team.fixed_candidate() == nullptr;
}

/// True if the MPI library serves a call wherever its ranks are placed, so that they need not meet.
template <class Call>
[[nodiscard]] bool is_small_anywhere(const Team* team, const Call& call) {
  if (!is_settled(call) || team == nullptr || team->fixed_candidate() != nullptr) return false;
  return call.message_bytes(*team) < (Call::limit() > 0 ? Call::limit() : least_gather_bytes_colliding);
}

/// The message size in bytes from which calls that are not timed are scheduled.
template <class Call>
[[nodiscard]] std::size_t limit_of(const Team* team) {
  if (team == nullptr || !team->could_collide()) return 0;
  if (Call::limit() > 0) return Call::limit();
  return settings().choose != Choose::off ? Choices::long_message_bytes() : Call::usual_limit(*team);
}

/// The candidate that the program asks for, or that blocking calls like this one have shown to be fastest; null:
/// nothing yet. Local.
template <class Call>
[[nodiscard]] const Candidate* known_candidate(Team* team, const Call& call) {
  if (team != nullptr && team->fixed_candidate() != nullptr) return team->fixed_candidate();
  if (!is_chosen(call) || team == nullptr || !team->could_collide()) return nullptr;
  return team->choices().fastest(call.kind(), {call.message_bytes(*team)});
}

/// The candidate for an untimed call for which none was selected. Reductions whose result must not change use two-level
/// messages where possible: fewer messages carry the same bytes.
template <class Call>
[[nodiscard]] const Candidate& unnamed_candidate(const Call& call, Form form) {
  const bool aggregates = form == Form::blocking && is_settled(call) && settings().choose != Choose::off;
  return aggregates ? two_level_sums : as_planned;
}

/// The exchange of a candidate or, where the ranks cannot aggregate this call, of the plan; null if neither can serve
/// it. Collective.
template <class Call>
[[nodiscard]] Exchange* exchange_by(Team& team, const Call& call, const Candidate& candidate) {
  const CallKind kind = call.kind();
  if (!candidate.two_level) return team.exchange(call.comm, kind, candidate);
  if constexpr (requires { typename Call::TwoLevel; }) {
    Exchange* const two_level = team.exchange(call.comm, kind, candidate);
    if (two_level != nullptr && team.aggregates(kind, call.message_bytes(team) + 1)) return two_level;
  }
  return team.exchange(call.comm, kind, as_planned);
}

/// The exchange for an untimed call that may wait for other ranks; null: the MPI library serves it, for the reason
/// given. Collective.
template <class Call>
[[nodiscard]] std::pair<Exchange*, FallbackReason> untimed(Team* team, const Call& call, Form form) {
  const Candidate* candidate = known_candidate(team, call);
  std::size_t least = candidate != nullptr ? 0 : limit_of<Call>(team);
  if (team != nullptr && is_decided_once(*team, call)) {
    if (const std::optional<FallbackReason> why = why_native(team, call, 0, form)) return {nullptr, *why};
    const std::size_t bytes = call.message_bytes(*team);
    candidate = form == Form::lasting || waits_for_all(*team, call)
                    ? team->choices().settled(call.comm, call.kind(), bytes)
                    : team->choices().settled_as_made(call.kind(), bytes);
    least = 0;
  }
  if (const std::optional<FallbackReason> why = why_native(team, call, least, form)) return {nullptr, *why};
  if (candidate == &all_candidates[0]) return {nullptr, FallbackReason::faster};
  if (candidate != nullptr && candidate->two_level && form == Form::lasting)
    return {nullptr, FallbackReason::two_level};
  return {exchange_by(*team, call, candidate != nullptr ? *candidate : unnamed_candidate(call, form)),
          FallbackReason::no_plan};
}

template <class Call>
[[nodiscard]] bool has_root(const Call& call) {
  return call.kind().collective->rooted;
}

/// True if a rank cannot end the call before all others have begun it, whoever serves it. The only calls in which the
/// ranks agree on anything (docs/decisions/0063-what-is-agreed-waits-for-who-waits.md).
template <class Call>
[[nodiscard]] bool waits_for_all(const Team& team, const Call& call) {
  if (has_root(call) || call.message_bytes(team) == 0) return false;
  if constexpr (requires { call.concerns_all(team); }) return call.concerns_all(team);
  return true;
}

template <class Call>
void note_passed_on(const Team* team, const Call& call, FallbackReason why) {
  static const std::string none;
  const bool known = reporting && team != nullptr;
  note_native(why, known ? call.sent_bytes(*team) : 0, known && has_root(call) ? call.message_bytes(*team) : 0,
              known ? team->problem_of(why) : none);
}

template <class Call>
void note_served(const Exchange& exchange, const Call& call, const Team& team) {
  note_scheduled(exchange, call.sent_bytes(team), call.message_bytes(team), has_root(call));
}

/// Runs the call by `exchange`, which gives up its order at the deadline; null: by the MPI library, because of `why`.
template <class Call, class Native>
int served(Team* team, const Call& call, Exchange* exchange, FallbackReason why, Native native,
           Deadline deadline = never) {
  if (exchange == nullptr) {
    note_passed_on(team, call, why);
    return wait_in_mpi(native);
  }
  const Serving serving = team->schedule_serves();  // whatever becomes of the call on this rank
  const auto run = [deadline](Operation&& operation) {
    operation.begin();
    finish(operation, deadline);
  };
  if constexpr (requires { typename Call::TwoLevel; })
    exchange->host_team() != nullptr ? run(typename Call::TwoLevel(*exchange, call))
                                     : run(typename Call::Operation(*exchange, call));
  else
    run(typename Call::Operation(*exchange, call));
  note_served(*exchange, call, *team);
  return MPI_SUCCESS;
}

/// Before anything that other ranks take part in.
template <class Call>
[[nodiscard]] bool is_erroneous_here(LibraryCall name, const Call& call) {
  const Team* const team = Team::known(call.comm);
  if (team == nullptr || !erroneous(name, call, *team)) return false;
  note_native(FallbackReason::erroneous);
  return true;
}

template <class Call, class Native>
int blocking(LibraryCall name, const Call& call, Native native) {
  return guarded(call.comm, [&]() -> int {
    if (is_erroneous_here(name, call)) return wait_in_mpi(native);
    Team* const team = Team::known(call.comm);
    const bool waits = team != nullptr && waits_for_all(*team, call);
    if (waits) complete_pending(call.comm);
    if (waits && team->is_time_for_ways()) follow_ways(call.comm, *team);
    if (!is_chosen(call) || (team != nullptr && team->fixed_candidate() != nullptr)) {
      const bool is_once = team != nullptr && is_decided_once(*team, call);
      if (!is_once && is_small_anywhere(team, call)) return served(team, call, nullptr, FallbackReason::small, native);
      if (!is_once && team != nullptr && !team->met()) {
        // Ranks need not meet for calls that only the library can serve, or that it finds erroneous.
        if constexpr (requires { call.refused(Form::blocking); })
          if (const std::optional<FallbackReason> why = call.refused(Form::blocking))
            return served(team, call, nullptr, *why, native);
        team->meet(call.comm);
      }
      const auto [exchange, why] = untimed(team, call, Form::blocking);
      return served(team, call, exchange, why, native);
    }
    if (const std::optional<FallbackReason> why = why_native(team, call, 0, Form::blocking))
      return served(team, call, nullptr, *why, native);
    if (!waits && call.message_bytes(*team) < Choices::least_without_waiting)
      return served(team, call, nullptr, FallbackReason::small, native);
    Choices::Call chosen = team->choices().begin(call.comm, call.kind(), {call.message_bytes(*team)}, waits);
    const int code = served(team, call, chosen.exchange(), FallbackReason::faster, native, chosen.deadline());
    chosen.over();
    return code;
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
int nonblocking(LibraryCall name, const Call& call, MPI_Request* request, Native native) {
  return guarded(call.comm, [&]() -> int {
    if (is_erroneous_here(name, call)) return native();
    Team* const team = local_team(call.comm);
    Team* const known = Team::known(call.comm);
    const bool is_once = known != nullptr && is_decided_once(*known, call);
    const bool has_met = team != nullptr && (!is_once || team->choices().met());
    const Candidate* candidate = known_candidate(team, call);
    if (is_once && has_met) candidate = team->choices().settled(call.kind(), call.message_bytes(*team));
    const std::size_t least = is_once || candidate != nullptr ? 0 : limit_of<Call>(team);
    std::optional<FallbackReason> why = why_native(team, call, least, Form::lasting);
    if (!why && candidate == &all_candidates[0]) why = FallbackReason::faster;
    if (!why && candidate != nullptr && candidate->two_level) why = FallbackReason::two_level;
    std::shared_ptr<PrivateChannel> channel;
    const bool is_unmet = team == nullptr ? plain_intracommunicator(call.comm) : !why && !has_met;
    if (is_unmet) {
      Nonblocking::of(call.comm).request_team_setup(*known);
      why = FallbackReason::not_ready;
    } else if (!why) {
      Nonblocking& calls = Nonblocking::of(call.comm);
      channel = calls.channel(*team, call.kind());
      why = calls.why(call.kind());
    }
    if (is_once && !known->choices().is_scheduled_later(call.kind(), call.message_bytes(*known), channel != nullptr)) {
      channel.reset();
      why = why.value_or(FallbackReason::not_ready);
    }
    if (channel == nullptr) {
      note_passed_on(team, call, *why);
      return native();
    }
    const std::shared_ptr<const Exchange> exchange = channel->exchange(call.kind());
    Requests::instance().begin(std::make_unique<OnPrivateChannel<Call>>(std::move(channel), call, *team), call.comm,
                               request);
    note_served(*exchange, call, *team);
    return MPI_SUCCESS;
  });
}

/// The MPI library makes the request; if the call can be scheduled the runtime serves it, else it is the library's.
template <class Call, class Native>
int persistent(LibraryCall name, const Call& call, MPI_Request* request, Native native) {
  return guarded(call.comm, [&]() -> int {
    const bool wrong = is_erroneous_here(name, call);
    const int code = wait_in_mpi(native);
    if (wrong) return code;
    if (code != MPI_SUCCESS) {
      note_native(FallbackReason::erroneous);
      return code;
    }
    complete_pending(call.comm);
    Team* const team = Team::of_any(call.comm);
    auto [exchange, why] = untimed(team, call, Form::lasting);
    if (exchange != nullptr && exchange->planned().forwards() && !all_may_forward(call.comm)) {
      exchange = nullptr;
      why = FallbackReason::forwards;
    }
    std::optional<PrivateComms::Lease> lease = exchange != nullptr ? team->lease(call.comm) : std::nullopt;
    if (!lease) {
      note_passed_on(team, call, why);
      return code;
    }
    note_served(*exchange, call, *team);
    using Managed = Persistent<typename Call::Operation, typename Call::Own>;
    Requests::instance().serve(*request, std::make_unique<Managed>(std::move(*lease), exchange->planned(), call, *team),
                               call.comm);
    return code;
  });
}

}  // namespace hocket::runtime
