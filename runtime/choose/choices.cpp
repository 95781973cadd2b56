#include "runtime/choose/choices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>
#include <utility>

#include "hocket/choose/forecast.hpp"
#include "hocket/limits.hpp"
#include "hocket/schedulers/plan_exchange.hpp"
#include "runtime/bundle/host_team.hpp"
#include "runtime/choose/evidence_file.hpp"
#include "runtime/environment/variables.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/report/report.hpp"
#include "runtime/report/report_table.hpp"

namespace hocket::runtime {
namespace {

/// Ranks; with more, every window's waits would cost seconds to derive. Only the usual window is offered.
constexpr int most_ranks_for_windows = 512;

/// Of the library's own time so far: what may go into finding out. As GuardRules has it.
constexpr double share = GuardRules{}.budget_share;

/// Seconds, on the slow side: for the ranks to agree on where they are; to draw up a schedule, its waits and a private
/// communicator.
constexpr double meeting_seconds = 5e-3;
double planning_seconds(int ranks) {
  const bool by_row = ranks > static_cast<int>(limits::most_ranks_planned_for_run);  // in closed form, or not at all
  return 2e-3 + (by_row ? 1e-5 : 4e-7 * ranks) * ranks;
}

/// Calls as short as an agreement that either takes. Where ranks outnumber cores that is most of it.
constexpr double agreements_of_a_meeting = 4, agreements_of_planning = 16;

/// Seconds for both where ranks of one host stand for hosts, more of them than cores, and spin while they wait.
constexpr double crowded_seconds = 60e-3;

/// Calls that are timed together while the library serves. The least counts: one that is held up, as happens where
/// ranks outnumber cores, would seem to pay for meeting.
constexpr std::size_t calls_of_a_look = 2;

/// Bytes that a rank sends in a call that lasts longer than looking at it takes.
constexpr std::size_t long_call = 16384;

/// Calls as long as this many meetings of the ranks: they meet before those that are timed.
constexpr double calls_of_a_meeting = 20;

/// Times what a call takes that follows another: more after a meeting, and meetings are no good.
constexpr double distortion = 1.5;

/// "alltoall", as evidence names them.
std::string collective_name(CallKind kind) {
  const std::string_view calls = kind.collective->mpi_calls;
  std::string name(calls.substr(0, calls.find(',')));
  name.erase(0, std::string_view("MPI_").size());
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return name;
}

/// What this run has measured of a guarded choice.
Evidence evidence_of(const Choice& choice, const std::string& place) {
  const Guard& guard = *choice.guard;
  std::vector<std::string_view> names;
  for (const std::size_t arm : choice.offered) names.push_back(arms[arm].name);
  return {.place = place,
          .call = collective_name(choice.kind),
          .size_class = size_class(choice.bytes),
          .layout = "any",
          .settled = guard.settled(),
          .winner = std::string(names[guard.incumbent()]),
          .arms = guard.learned(names)};
}

/// 0 for what is not known.
double known_seconds(double seconds) { return std::isfinite(seconds) ? seconds : 0; }

void say_predictions(const Choice& choice) {
  std::ostringstream text;
  text << choice.kind.collective->name << ", " << choice.bytes << " bytes, predicted milliseconds:";
  text << std::fixed << std::setprecision(3);
  for (std::size_t i = 0; i < choice.offered.size(); ++i)
    text << ' ' << arms[choice.offered[i]].name << ' ' << choice.predicted[i] * 1e3;
  say(text.str());
}

/// Of the offered arms: the fastest by prediction, if it saves a tenth of the library's own time; else that one.
std::size_t best_predicted(const Choice& choice) {
  constexpr double worth_it = 0.9;
  const auto best = std::ranges::min_element(choice.predicted);
  return *best <= worth_it * choice.predicted[0] ? static_cast<std::size_t>(best - choice.predicted.begin()) : 0;
}

/// Whether any arm should gain what is worth a change. Where none should, trials are for earned time only.
bool promises_gain(const Choice& choice) {
  return !(choice.predicted[0] * (1 - GuardRules{}.margin) <= std::ranges::min(choice.predicted));
}

}  // namespace

void Choices::keep() const {
  if (members_.rank != 0) return;
  std::vector<Evidence> learned;
  for (const Choice& choice : choices_) {
    tell(choice);
    if (!choice.guard) continue;
    Evidence evidence = evidence_of(choice, place_.digest);
    evidence.ranks = static_cast<std::uint32_t>(members_.size);
    evidence.hosts = static_cast<std::uint32_t>(place_.hosts);
    evidence.mpi = mpi_;
    learned.push_back(std::move(evidence));
  }
  if (!learned.empty()) keep_evidence(place_.digest, learned);
}

Choice& Choices::of(CallKind kind, std::size_t bytes) {
  const std::uint32_t wanted = size_class(bytes);
  const auto fits = [&](const Choice& choice) { return choice.kind == kind && size_class(choice.bytes) == wanted; };
  if (last_ != nullptr && fits(*last_)) return *last_;
  const auto found = std::ranges::find_if(choices_, fits);
  if (found != choices_.end()) return *(last_ = &*found);
  Choice& fresh = choices_.emplace_back();
  fresh.kind = kind;
  fresh.bytes = bytes;
  if (kind.collective->pattern == Pattern::irregular && kind.collective->rooted)
    fresh.costs = AgreedCosts(AgreedCosts::Cost::most);
  recall(fresh);
  return *(last_ = &fresh);
}

void Choices::recall(Choice& choice) const {
  const std::uint32_t wanted = size_class(choice.bytes);
  for (const Evidence& evidence : evidence_)
    if (evidence.call == collective_name(choice.kind) && evidence.size_class == wanted) choice.known = evidence;
}

void Choices::meet(MPI_Comm comm) {
  met_ = true;
  place_ = members_.meet(comm);
  mpi_ = mpi_name();
  if (place_.digest.empty() || settings().choose != Choose::learn) return;
  evidence_ = kept_evidence(comm, place_.digest);
  for (Choice& choice : choices_) recall(choice);
}

Choices::Call Choices::begin(MPI_Comm comm, CallKind kind, std::size_t bytes) {
  Choice& choice = of(kind, bytes);
  ++choice.calls;
  Call call;
  bool timed = false;
  double limit = std::numeric_limits<double>::infinity();
  if (choice.stage == Choice::Stage::watched) watch(comm, choice);
  std::size_t arm = 0;
  switch (choice.stage) {
    case Choice::Stage::guarded: {
      if (choice.guard->due()) tell_guard(comm, choice);
      const Turn turn = choice.guard->next();
      arm = choice.offered[turn.arm];
      timed = turn.timed;
      limit = turn.limit;
      if (timed) choice.timed.push_back(arm);
      break;
    }
    case Choice::Stage::watched: {
      timed = looks_at(choice);
      break;
    }
    case Choice::Stage::fixed:
      arm = choice.arm;
  }
  if (arm != 0) call.exchange_ = members_.exchange(comm, kind, arms[arm]);
  if (timed) {
    call.timed_ = &choice.costs;
    choice.costs.begin(comm);
  }
  call.deadline_ = choice.costs.after(limit, timed);
  return call;
}

void Choices::tell(const Choice& choice) const {
  ChoiceRow row{.collective = std::string(choice.kind.collective->name),
                .arm = std::string(arms[choice.arm].name),
                .ranks = members_.size,
                .hosts = place_.hosts,
                .bytes = choice.bytes,
                .calls = choice.calls,
                .native = choice.native_seconds};
  if (choice.guard) {
    const Guard& guard = *choice.guard;
    const ArmState& now = guard.arms()[guard.incumbent()];
    row.arm = arms[choice.offered[guard.incumbent()]].name;
    row.trials = guard.trials();
    row.lost = guard.lost();
    row.native = known_seconds(guard.arms()[0].typical);
    row.predicted = known_seconds(choice.predicted[guard.incumbent()]);
    row.measured = known_seconds(now.typical);
  }
  note_choice(std::move(row));
}

void Choices::Call::over() {
  if (timed_ != nullptr) timed_->end();
}

/// Whether a call is timed that the library serves. The first sets up connections. Short ones are looked at later:
/// that costs about as much as they do.
bool Choices::looks_at(const Choice& choice) const {
  const bool is_long = choice.bytes * static_cast<std::size_t>(members_.size - 1) >= long_call;
  const int first = is_long ? 1 : 6, step = choice.outruns_wires ? 6 : 3, power = std::bit_width(choice.calls) - 1;
  if (choice.costs.count() > 0) return true;  // the rest of a look
  return std::has_single_bit(choice.calls) && power >= first && (power - first) % step == 0;
}

void Choices::watch(MPI_Comm comm, Choice& choice) {
  if (choice.costs.count() == calls_of_a_look) {
    // Until they have met, ranks may have read different networks.
    std::vector<double> agreed = choice.costs.agree(comm, wire_seconds(choice));
    const double wires = agreed.back();
    agreed.pop_back();
    choice.native_seconds = known_seconds(std::ranges::min(agreed));
    choice.outruns_wires = choice.native_seconds < wires;
    if (!met_) agreement_seconds_.reset();  // what was in the way last time may be gone
  }
  spent_ += choice.native_seconds;
  const double since = PMPI_Wtime();
  if (!met_ && pays(choice, meeting_seconds + planning_seconds(members_.size))) {
    if (!agreement_seconds_) agreement_seconds_ = measure_agreement(comm);
    const double agreements = (agreements_of_a_meeting + agreements_of_planning) * *agreement_seconds_;
    if (pays(choice, meeting_seconds + planning_seconds(members_.size) + agreements)) meet(comm);
  }
  if (!met_) return;
  if (place_.digest.empty())
    choice.stage = Choice::Stage::fixed;
  else if (promises(choice))
    open(comm, choice, since);
}

/// Calls that may go into finding out about another size before they are earned. Where schedules have not been worth it
/// they are fewer: a program of many sizes would spend them on each.
double Choices::credit() const {
  const auto in_vain = std::ranges::count_if(
      choices_, [](const Choice& choice) { return choice.guard && choice.guard->incumbent() == 0; });
  return GuardRules{}.budget_calls / static_cast<double>(1 + in_vain);
}

/// What the link of a host needs for what one rank sends.
double Choices::wire_seconds(const Choice& choice) const {
  const PlanStore& plans = PlanStore::instance();
  if (!plans.has_network()) return 0;
  const Pattern pattern = choice.kind.collective->pattern;
  const bool row = !choice.kind.collective->rooted && pattern != Pattern::all_reduce;
  const double bytes = static_cast<double>(choice.bytes) * (row ? members_.size - 1 : 1);
  return bytes / plans.network().host_rate();
}

/// Where calls outrun the wires nothing is tried on credit.
bool Choices::pays(const Choice& choice, double seconds) const {
  if (choice.native_seconds <= 0) return false;
  if (choice.outruns_wires) return share * spent_ >= seconds + crowded_seconds;
  return share * spent_ + credit() * choice.native_seconds >= seconds;
}

/// Whether now is the time to try schedules.
bool Choices::promises(const Choice& choice) const {
  if (choice.known.winner.empty())
    return pays(choice, planning_seconds(members_.size) + agreements_of_planning * *agreement_seconds_);
  const bool lost_before = choice.known.winner == arms[0].name && choice.known.settled;
  return !lost_before || choice.calls >= GuardRules{}.retest_after;
}

bool Choices::offers_bundles(MPI_Comm comm, const Choice& choice, const Arm& arm) const {
  const std::size_t most = (choice.bytes + 1) * 3 / 2;  // a class spans half an octave
  return members_.exchange(comm, choice.kind, arm) != nullptr && members_.bundles(choice.kind, most);
}

double Choices::predicted(const Exchange& exchange, const Choice& choice, const Arm& arm) const {
  const Planned& planned = exchange.planned();
  const HostTeam* const together = exchange.host_team();
  const std::size_t bytes =
      together != nullptr ? together->bundle_bytes(*choice.kind.collective, choice.bytes) : choice.bytes;
  const std::size_t segment = arm.large ? large_segment : settings().segment;
  const double wire = planned.figures.bound * static_cast<double>(bytes) / static_cast<double>(planned.demand.bytes);
  ScheduleCost cost{planned.phases, wire, arm.window, (bytes + segment - 1) / segment, arm.large};
  if (together != nullptr) cost.copied_bytes = together->needed(*choice.kind.collective, choice.bytes);
  if (together != nullptr && arm.window == 0) {
    cost.window = 1;
    const Hosts& hosts = together->hosts;
    // As short messages go in the library; of all leaders each has a share, and all meet once more.
    cost.phases = arm.all_lead ? 1 + (hosts.count() - 1) / hosts.fewest : std::bit_width(hosts.count() - 1);
    // Between leaders the library's order is as good or bad as between all.
    cost.wire_seconds = std::sqrt(wire * std::max(wire, choice.native_seconds));
  }
  return forecast(cost, {(together != nullptr ? between_leaders_ : small_)->step_seconds, choice.native_seconds});
}

void Choices::open(MPI_Comm comm, Choice& choice, double since) {
  choice.stage = Choice::Stage::fixed;
  const Collective& collective = *choice.kind.collective;
  const Arm& usual = arms[run_window(collective.pattern, collective.rooted)];
  const Exchange* const exchange = members_.exchange(comm, choice.kind, usual);
  const bool rank_by_rank = choice.kind != irregular_calls();  // others are planned for their sizes, not by their size
  if (rank_by_rank && exchange == nullptr) return;
  const MPI_Comm own = members_.private_comm(comm);
  if (own == MPI_COMM_NULL) return;
  if (!small_) small_ = measure_small_costs(own, own);
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const Arm& arm = arms[i];
    if (arm.flow == Flow::free && settings().flow_control != Flow::token) continue;
    if (arm.large && (choice.bytes <= settings().segment || settings().segment != usual_segment)) continue;
    if (i > 0 && !arm.bundled && members_.size > most_ranks_for_windows && arm.name != usual.name) continue;
    if (i > 0 && !arm.bundled && !rank_by_rank) continue;
    if (arm.bundled && !offers_bundles(comm, choice, arm)) continue;
    if (arm.bundled && !between_leaders_)
      between_leaders_ =
          measure_small_costs(own, members_.exchange(comm, choice.kind, arm)->host_team()->between_leaders);
    choice.offered.push_back(i);
    if (i == 0)
      choice.predicted.push_back(choice.native_seconds > 0 ? choice.native_seconds
                                                           : std::numeric_limits<double>::quiet_NaN());
    else
      choice.predicted.push_back(
          predicted(*members_.exchange(comm, choice.kind, arm.bundled ? arm : usual), choice, arm));
  }
  if (choice.offered.size() == 1) return;
  if (members_.rank == 0 && settings().log > 1) say_predictions(choice);
  if (settings().choose == Choose::predict) {
    choice.arm = choice.offered[best_predicted(choice)];
    return;
  }
  choice.costs.meet_first(small_->agree_seconds * calls_of_a_meeting <= choice.native_seconds);
  // What it took to get here may cost as many calls as trials may; more has to be made up for.
  const double granted = choice.outruns_wires ? 0 : credit() * choice.native_seconds;
  set_guard(choice);
  const double took = slowest(own, PMPI_Wtime() - since);
  choice.guard->waste(std::max(0.0, took - granted));
  choice.stage = Choice::Stage::guarded;
}

/// A guard that knows what was seen so far.
void Choices::set_guard(Choice& choice) const {
  GuardRules rules;
  rules.post_seconds = small_->agree_seconds;
  rules.timed_seconds = choice.costs.meets_first() ? small_->agree_seconds : 0;
  rules.budget_calls = choice.outruns_wires || !promises_gain(choice) ? 0 : credit();
  std::vector<ArmEvidence> known;
  std::optional<std::size_t> winner;
  for (std::size_t i = 0; i < choice.offered.size(); ++i) {
    const std::string_view name = arms[choice.offered[i]].name;
    const auto found = std::ranges::find(choice.known.arms, name, &ArmEvidence::name);
    known.push_back(found != choice.known.arms.end() ? *found : ArmEvidence{});
    if (choice.known.winner == name) winner = i;
    if (arms[choice.offered[i]].has_order() && settings().flow_control != Flow::barrier)
      rules.can_be_cut |= std::uint64_t{1} << i;
  }
  choice.guard.emplace(choice.predicted, rules, known, winner);
  choice.guard->seen(0, choice.calls - 1, choice.native_seconds);
}

/// Where ranks outnumber cores, calls that all of them begin at once may take several times as long as those that
/// follow each other. Then meetings would measure something else than the program sees, at a high price.
void Choices::tell_guard(MPI_Comm comm, Choice& choice) {
  const std::vector<double> costs = choice.costs.agree(comm);
  const std::vector<std::size_t> timed = std::exchange(choice.timed, {});
  const auto distorted = [&](const std::vector<double>& seconds) {
    std::vector<double> native;
    for (std::size_t i = 0; i < seconds.size(); ++i)
      if (timed[i] == 0) native.push_back(seconds[i]);
    return all_longer(native, distortion * choice.native_seconds);
  };
  // The most over the ranks may just be one that is held up: asked about again, by what was watched.
  const bool given_up = choice.costs.meets_first() && choice.native_seconds > 0 && distorted(costs) &&
                        distorted(choice.costs.as_if_unmet(comm));
  if (!given_up) return choice.guard->tell(costs);
  double wasted = choice.guard->lost();
  for (const double seconds : costs)
    if (std::isfinite(seconds)) wasted += std::max(0.0, seconds - choice.native_seconds) + small_->agree_seconds;
  choice.costs.meet_first(false);
  choice.guard.reset();  // it has not been in vain: this choice begins anew
  set_guard(choice);
  choice.guard->waste(wasted);
}

const Arm* Choices::fastest(CallKind kind, std::size_t bytes) const {
  const std::uint32_t wanted = size_class(bytes);
  for (const Choice& choice : choices_) {
    if (choice.kind != kind || size_class(choice.bytes) != wanted) continue;
    if (choice.stage == Choice::Stage::guarded) return &arms[choice.offered[choice.guard->incumbent()]];
    return &arms[choice.arm];
  }
  return nullptr;
}

}  // namespace hocket::runtime
