#include "runtime/choose/choices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <sstream>
#include <utility>

#include "core/algorithms/plan_exchange.hpp"
#include "core/choose/forecast.hpp"
#include "runtime/choose/kept_timings_file.hpp"
#include "runtime/environment/variables.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/report/report.hpp"
#include "runtime/two_level/host_team.hpp"

namespace hocket::runtime {
namespace {

/// Seconds, on the slow side, for the ranks to agree on where they are; and calls as short as an agreement that it
/// takes.
constexpr double meeting_seconds = 5e-3, agreements_of_a_meeting = 4;

/// Seconds for both where ranks of one host stand for hosts, more of them than cores, and spin while they wait.
constexpr double crowded_seconds = 60e-3;

/// Calls as long as this many times what finding out takes need no second look: one that is held up, as happens where
/// ranks outnumber cores, would seem to pay for meeting.
constexpr double clearly_pays = 4;
constexpr std::uint32_t calls_of_a_look = 2;

/// A size that is tried may never come again: others do not wait for it beyond this call of theirs.
constexpr std::uint64_t most_calls_waited = 3;

/// Bytes that a rank sends in a call that lasts longer than looking at it takes.
constexpr std::size_t long_call = 16384;

/// Gathers and scatters end when all has left, or come to, the root.
AgreedCost::Of cost_of(CallKind kind) {
  const bool around_root = kind.collective->pattern == Pattern::irregular && kind.collective->rooted;
  return around_root ? AgreedCost::Of::most : AgreedCost::Of::mean;
}

/// 0 for what is not known.
double known_seconds(double seconds) { return std::isfinite(seconds) ? seconds : 0; }

/// The offered candidate with the best prediction, if that saves a tenth of the library's time; else 0, the library's
/// call.
std::size_t best_predicted(const Choice& choice) {
  constexpr double worth_it = 0.9;
  const auto best = std::ranges::min_element(choice.predicted);
  return *best <= worth_it * choice.predicted[0] ? static_cast<std::size_t>(best - choice.predicted.begin()) : 0;
}

void say_predictions(const Choice& choice) {
  std::ostringstream text;
  text << choice.kind.collective->name << ", " << choice.sizes.bytes << " bytes, predicted milliseconds:";
  text << std::fixed;
  text.precision(3);
  std::vector<std::size_t> preferred(choice.offered.size());
  std::iota(preferred.begin(), preferred.end(), 0);
  std::ranges::stable_sort(preferred, {}, [&](std::size_t i) {
    return std::isfinite(choice.predicted[i]) ? choice.predicted[i] : std::numeric_limits<double>::infinity();
  });
  for (const std::size_t i : preferred)
    text << ' ' << all_candidates[choice.offered[i]].name << ' ' << choice.predicted[i] * 1e3;
  say(text.str());
}

}  // namespace

Choice* Choices::find(CallKind kind, const MessageSizes& sizes) {
  const auto fits = [&](const Choice& choice) { return choice.kind == kind && choice.sizes.alike(sizes); };
  if (last_ != nullptr && fits(*last_)) return last_;
  const auto found = std::ranges::find_if(choices_, fits);
  return found != choices_.end() ? last_ = &*found : nullptr;
}

Choice& Choices::of(CallKind kind, const MessageSizes& sizes) {
  if (Choice* const known = find(kind, sizes)) return *known;
  Choice& fresh = choices_.emplace_back();
  fresh.kind = kind;
  fresh.sizes = sizes;
  fresh.look = AgreedCost(cost_of(kind));
  recall(fresh);
  return *(last_ = &fresh);
}

void Choices::recall(Choice& choice) const {
  const std::uint32_t wanted = size_class(choice.sizes.bytes);
  const std::string layout = layout_of(choice.kind, choice.sizes);
  for (const KeptTimings& timings : timings_)
    if (timings.call == call_name(choice.kind) && timings.size_class == wanted && timings.layout == layout)
      choice.known = timings;
}

void Choices::meet(MPI_Comm comm) {
  if (std::exchange(met_, true)) return;
  place_ = members_.place(comm);
  mpi_ = mpi_name();
  if (place_.empty() || settings().choose != Choose::learn) return;
  timings_ = kept_timings(comm, place_);
  for (Choice& choice : choices_) recall(choice);
}

/// All that the ranks agree on before the next call. Collective.
void Choices::agree(MPI_Comm comm, Choice& choice) {
  if (choice.stage == Choice::Stage::watched) watch(comm, choice);
  if (choice.stage == Choice::Stage::selected) doubt_rates(comm, choice);
  if (choice.stage == Choice::Stage::selected && !std::exchange(choice.decided, true)) choice.selection->next(comm);
}

const Candidate& Choices::next(const Choice& choice) {
  const bool is_selected = choice.stage == Choice::Stage::selected;
  return all_candidates[is_selected ? choice.offered[choice.selection->candidate()] : choice.candidate];
}

/// Leaves that for settle(), if there may be anything to agree on. Local.
void Choices::leave(Choice& choice) {
  const bool is_watched = choice.stage == Choice::Stage::watched;
  if (choice.left || (!is_watched && choice.stage != Choice::Stage::selected)) return;
  if (is_watched && !choice.look.is_open() && choice.native_seconds <= 0 && choice.known.winner.empty() &&
      !may_look_for_kept(choice))
    return;
  choice.left = true;
  members_.leave_pending();
}

void Choices::settle(MPI_Comm comm) {
  for (Choice& choice : choices_) {
    if (!std::exchange(choice.left, false)) continue;
    agree(comm, choice);
    if (&next(choice) != &all_candidates[0]) (void)members_.exchange(comm, choice.kind, next(choice));
  }
}

Choices::Call Choices::begin(MPI_Comm comm, CallKind kind, const MessageSizes& sizes, bool waits,
                             std::uint64_t unseen) {
  Choice& choice = of(kind, sizes);
  choice.sizes.come_again = sizes.come_again;
  choice.unseen = unseen;
  choice.calls += 1 + unseen;
  choice.unspent += 1 + unseen;
  Call call;
  call.times_ = static_cast<double>(choice.sizes.bytes) / static_cast<double>(std::max<std::size_t>(sizes.bytes, 1));
  if (waits) agree(comm, choice);
  switch (choice.stage) {
    case Choice::Stage::selected:
      if (!std::exchange(choice.decided, false)) choice.selection->stay();
      call.selection_ = &*choice.selection;
      break;
    case Choice::Stage::watched:
      if (looks_at(choice)) call.look_ = &choice.look;
      break;
    case Choice::Stage::fixed:
      break;
  }
  call.candidate_ = &next(choice);
  if (call.candidate_ != &all_candidates[0])
    call.exchange_ =
        waits ? members_.exchange(comm, kind, *call.candidate_) : members_.made_exchange(kind, *call.candidate_);
  if (call.selection_ != nullptr) {
    call.selection_->begin();
    call.deadline_ = call.selection_->deadline();
  }
  if (call.look_ != nullptr) call.look_->begin();
  if (!waits) leave(choice);
  return call;
}

void Choices::Call::over() {
  if (look_ != nullptr) look_->end(times_);
  if (selection_ != nullptr) selection_->over(times_);
}

bool Choices::Call::goes_on() const {
  return look_ != nullptr || (selection_ != nullptr && !selection_->native_stays());
}

bool Choices::is_long(std::size_t bytes) const {
  return bytes * static_cast<std::size_t>(members_.size() - 1) >= long_call;
}

/// True if this call, served by the library, is timed. Timing costs about as much as a short call, so short ones are
/// first timed later.
bool Choices::looks_at(const Choice& choice) const {
  const int first = is_long(choice.sizes.bytes) ? 0 : 6, step = choice.outruns_wires ? 6 : 3,
            power = std::bit_width(choice.calls) - 1;
  if (choice.looks > 0) return true;                                              // the rest of a look
  const bool is_due = std::bit_width(choice.calls - 1 - choice.unseen) <= power;  // 2^power or, unseen, one before it
  return is_due && power >= first && (power - first) % step == 0;
}

bool Choices::may_look_for_kept(const Choice& choice) const {
  return !met_ && !looked_for_kept_ && settings().choose == Choose::learn && is_long(choice.sizes.bytes);
}

/// Makes the ranks meet at the first call if earlier jobs have kept timings, so that these apply from the start.
void Choices::look_for_kept(MPI_Comm comm, const Choice& choice) {
  if (!may_look_for_kept(choice)) return;
  looked_for_kept_ = true;
  const double here = members_.rank() == 0 && is_anything_kept(members_.size()) ? 1 : 0;
  if (slowest(comm, here) > 0) meet(comm);
}

void Choices::watch(MPI_Comm comm, Choice& choice) {
  look_for_kept(comm, choice);
  if (choice.look.is_open()) {
    // Until they have met, ranks may have read different networks, or have been placed by different rules. Where hosts
    // share a machine, a call faster than the described links shows only that shared memory is fast.
    const auto [seconds, wires, together] =
        choice.look.agree(comm, wire_seconds(choice), settings().placement == "order");
    const bool is_second = choice.looks > 0 && choice.native_seconds > 0;
    choice.native_seconds =
        is_second ? std::min(choice.native_seconds, known_seconds(seconds)) : known_seconds(seconds);
    choice.outruns_wires = together && choice.native_seconds < wires;
    ++choice.looks;
    const double least = clearly_pays * (meeting_seconds + planning_seconds(members_.size()));
    if (choice.looks == calls_of_a_look ||
        (!choice.outruns_wires && !may_open_connections(choice.native_seconds, members_.size(), wires) &&
         choice.native_seconds >= least))
      choice.looks = 0;
    if (!met_) agreement_seconds_.reset();  // the obstacle of the last attempt may be gone
  }
  spent_ += static_cast<double>(std::exchange(choice.unspent, 0)) * choice.native_seconds;
  if (choice.looks > 0) return;
  const double planning = planning_seconds(members_.size());
  if (!met_ && pays(choice, meeting_seconds + planning) &&
      pays(choice,
           meeting_seconds + planning + (agreements_of_a_meeting + agreements_of_planning) * agreement_seconds(comm)))
    meet(comm);
  if (!met_) return;
  if (place_.empty())
    choice.stage = Choice::Stage::fixed;
  else if (choice.known.winner.empty() && choice.calls <= most_calls_waited && is_tried_elsewhere(choice))
    return;  // its result will apply to this size
  else if (!choice.known.winner.empty() ||
           (pays(choice, planning) && pays(choice, setup_seconds(members_.size(), agreement_seconds(comm)))))
    open(comm, choice);
}

double Choices::agreement_seconds(MPI_Comm comm) {
  if (!agreement_seconds_) agreement_seconds_ = measure_agreement(comm);
  return *agreement_seconds_;
}

/// Calls that may go into finding out about another size before they are earned. Where schedules have not been worth it
/// they are fewer: a program of many sizes would spend them on each.
double Choices::credit() const {
  const auto in_vain = std::ranges::count_if(
      choices_, [](const Choice& choice) { return choice.selection && choice.selection->chooser().best() == 0; });
  return 1 / static_cast<double>(1 + in_vain);
}

/// True if past calls justify spending `seconds`. Calls faster than the described links get no credit in advance.
bool Choices::pays(const Choice& choice, double seconds) const {
  if (choice.native_seconds <= 0) return false;
  if (choice.outruns_wires) return timing_share * spent_ >= seconds + crowded_seconds;
  return timing_share * spent_ + credit() * choice.native_seconds >= seconds;
}

/// True if a schedule serves another size for the first time and its cost is not known yet.
bool Choices::is_tried_elsewhere(const Choice& choice) const {
  return std::ranges::any_of(choices_, [&](const Choice& other) {
    if (other.kind != choice.kind || !other.selection) return false;
    const std::span<const Belief> schedules = other.selection->chooser().beliefs().subspan(1);
    const auto any = [&](std::uint64_t Belief::* calls) {
      return std::ranges::any_of(schedules, [&](const Belief& belief) { return belief.*calls > 0; });
    };
    return any(&Belief::calls) && !any(&Belief::timed);
  });
}

bool Choices::offers_two_level(MPI_Comm comm, const Choice& choice, const Candidate& candidate) const {
  const std::size_t most = (choice.sizes.bytes + 1) * 3 / 2;  // a class spans half an octave
  return members_.exchange(comm, choice.kind, candidate) != nullptr && members_.aggregates(choice.kind, most);
}

void Choices::open(MPI_Comm comm, Choice& choice) {
  choice.stage = Choice::Stage::fixed;
  choice.selection.reset();
  choice.decided = false;
  choice.offered.clear();
  choice.predicted.clear();
  if (choice.native_seconds <= 0)
    for (const CandidateTimings& kept : choice.known.candidates)
      if (kept.name == all_candidates[0].name) choice.native_seconds = kept.seconds;
  const Collective& collective = *choice.kind.collective;
  const bool uneven = choice.kind == irregular_calls();
  const Candidate& usual = all_candidates[uneven ? run_window(Pattern::all_to_all, false)
                                                 : run_window(collective.pattern, collective.rooted)];
  const Exchange* const exchange = members_.exchange(comm, choice.kind, usual);
  if (!uneven && exchange == nullptr) return;
  if (exchange != nullptr) choice.bound_seconds = bound_seconds(exchange->planned(), choice.sizes.bytes);
  const MPI_Comm own = members_.private_comm(comm);
  if (own == MPI_COMM_NULL) return;
  if (!small_) small_ = measure_small_costs(own, own);
  const CallFacts facts{
      .bytes = choice.sizes.bytes,
      .ranks = members_.size(),
      .usual_window = usual.window,
      .segment = settings().segment,
      .is_usual_segment = settings().segment == usual_segment,
      .waits_for_turns = settings().flow_control == Flow::token,
      .has_phases = exchange != nullptr,
      .plans = uneven && (exchange == nullptr || !settings().algorithm.empty() ||
                          (choice.sizes.come_again && choice.sizes.sparse + choice.sizes.skewed > 0))};
  std::vector<const Exchange*> exchanges;
  for (std::size_t i = 0; i < all_candidates.size(); ++i) {
    const Candidate& candidate = all_candidates[i];
    if (!is_offered(candidate, facts)) continue;
    if (candidate.two_level && !offers_two_level(comm, choice, candidate)) continue;
    if (candidate.two_level && !between_leaders_)
      between_leaders_ =
          measure_small_costs(own, members_.exchange(comm, choice.kind, candidate)->host_team()->between_leaders);
    choice.offered.push_back(i);
    const Exchange* const two_level = candidate.two_level ? members_.exchange(comm, choice.kind, candidate) : nullptr;
    exchanges.push_back(i == 0 || candidate.planned ? nullptr : candidate.two_level ? two_level : exchange);
  }
  if (choice.offered.size() == 1) return;
  choice.predicted = predictions(own, choice, exchanges);
  if (members_.rank() == 0 && settings().log > 1) say_predictions(choice);
  if (settings().choose == Choose::predict) {
    choice.candidate = choice.offered[best_predicted(choice)];
    return;
  }
  std::vector<std::string_view> names;
  for (const std::size_t candidate : choice.offered) names.push_back(all_candidates[candidate].name);
  std::vector<double> expected = choice.predicted;
  const double error = prediction_error(choice);
  for (std::size_t i = 1; i < expected.size(); ++i) expected[i] *= error;
  choice.selection.emplace(std::move(names), expected, small_->agree_seconds,
                           setup_seconds(members_.size(), small_->agree_seconds), opening_seconds(members_.size()),
                           cost_of(choice.kind), choice.known);
  choice.selection->seen(choice.calls - 1, choice.native_seconds);
  if (shares_wires(choice)) {
    choice.selection->fix_native();
    if (members_.rank() == 0 && settings().log > 1) say("others load the wires: the library's time stays as it is");
  }
  choice.stage = Choice::Stage::selected;
}

}  // namespace hocket::runtime
