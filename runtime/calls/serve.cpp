#include "runtime/calls/serve.hpp"

#include "runtime/calls/nonblocking.hpp"

namespace hocket::runtime {
namespace {

Server library(FallbackReason why) { return {.why = why}; }

/// The size of a message in bytes from which a call is scheduled of whose candidates nothing is known.
std::size_t least_bytes(const Team& team, const Collective& collective) {
  if (settings().min_bytes > 0) return settings().min_bytes;
  if (settings().choose != Choose::off) return Choices::long_message_bytes();
  const bool is_by_messages = collective.pattern == Pattern::all_to_all || collective.pattern == Pattern::irregular;
  return is_by_messages ? least_bytes_scheduled : team.least_gather_bytes();
}

/// The exchange of a candidate or, where the ranks cannot aggregate this call, of the plan; null if neither can serve
/// it. Collective.
const Exchange* exchange_by(Team& team, const Facts& call, const Candidate& candidate) {
  if (!candidate.two_level) return team.exchange(call.comm, call.kind, candidate);
  if (call.has_two_level) {
    const Exchange* const two_level = team.exchange(call.comm, call.kind, candidate);
    if (two_level != nullptr && team.aggregates(call.kind, call.bytes + 1)) return two_level;
  }
  return team.exchange(call.comm, call.kind, as_planned);
}

/// The server of a nonblocking call that is to be scheduled if that is set up; else it asks for that. The first of the
/// calls whose results depend on it (`once`) decides for all of them. `meets`: the ranks know where they are. Local.
Server channel_for(Team& team, const Facts& call, bool once, bool meets) {
  Nonblocking& calls = Nonblocking::of(call.comm);
  Server server = library(FallbackReason::not_ready);
  if (!meets) {
    calls.request_team_setup(team);
  } else {
    server.channel = calls.channel(team, call.kind);
    server.why = calls.why(call.kind);
  }
  if (once && !team.choices().is_scheduled_later(call.kind, call.bytes, server.channel != nullptr)) {
    if (server.channel != nullptr) server.why = FallbackReason::not_ready;
    server.channel.reset();
  }
  if (server.channel != nullptr) server.exchange = server.channel->exchange(call.kind).get();
  return server;
}

}  // namespace

Server who_serves(Team& team, const Facts& call) {
  const bool blocks = call.form == Form::blocking, lasts = !blocks, later = call.form == Form::nonblocking;
  const Collective& collective = *call.kind.collective;
  const Candidate* candidate = team.fixed_candidate();
  const bool by_engine = candidate == nullptr && settings().min_bytes == 0 && settings().choose != Choose::off;
  const bool once = by_engine && call.settled, timed = by_engine && !call.settled && blocks;

  if (!team.met() && (call.form == Form::persistent || (blocks && !by_engine))) {
    if (blocks) {  // ranks need not meet for calls that only the library can serve
      const std::uint64_t limit = settings().min_bytes;
      const bool asks = !call.settled && (limit == 0 || call.waits);  // ranks whose limits differ find that out
      if (!asks && candidate == nullptr && call.bytes < (limit > 0 ? limit : least_gather_bytes_colliding))
        return library(FallbackReason::small);
      if (call.refused) return library(*call.refused);
    }
    team.meet(call.comm);
  }
  const bool uneven = call.kind == irregular_calls();
  if (uneven && candidate == nullptr && (!by_engine || !team.met())) return library(FallbackReason::sizes_unknown);
  if (later && !team.met() && team.could_meet()) return channel_for(team, call, once, false);
  if (team.met() ? !team.could_collide() : !team.could_meet()) return library(team.why_native());

  if (by_engine && !call.settled && lasts)
    candidate = uneven ? team.choices().fastest(call.kind) : team.choices().fastest(call.kind, {call.bytes});
  if (uneven && (candidate == nullptr || candidate->planned)) return library(FallbackReason::sizes_unknown);
  const std::size_t least = candidate != nullptr || (by_engine && blocks) || once ? 0 : least_bytes(team, collective);
  if (call.bytes == 0 || call.bytes < least) return library(FallbackReason::small);
  if (call.refused) return library(*call.refused);
  if (timed) {
    if (!call.waits && call.bytes < Choices::least_without_waiting) return library(FallbackReason::small);
    const Choices::Call chosen = team.choices().begin(call.comm, call.kind, {call.bytes}, call.waits);
    return {chosen.exchange(), FallbackReason::faster, chosen};
  }
  if (once) {
    Choices& choices = team.choices();
    if (later && !choices.met()) return channel_for(team, call, once, false);
    candidate = later                                         ? choices.settled(call.kind, call.bytes)
                : call.waits || call.form == Form::persistent ? choices.settled(call.comm, call.kind, call.bytes)
                                                              : choices.settled_as_made(call.kind, call.bytes);
  }
  if (candidate == &all_candidates[0]) return library(FallbackReason::faster);
  if (candidate != nullptr && candidate->two_level && lasts) return library(FallbackReason::two_level);
  if (later) return channel_for(team, call, once, true);
  // Sums whose order must not change go by two-level messages where possible: fewer of them carry the same bytes.
  const bool aggregates = blocks && call.settled && settings().choose != Choose::off;
  const Candidate& unnamed = aggregates ? two_level_sums : as_planned;
  return {exchange_by(team, call, candidate != nullptr ? *candidate : unnamed)};
}

}  // namespace hocket::runtime
