#include "hocket/choose/guard.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "hocket/error.hpp"

namespace hocket {
namespace {

constexpr double clear_gain = 1.10;         // by which a calibrated prediction decides the first call
constexpr double far_slower = 2;            // two calls like that end a trial
constexpr double far_behind = 3;            // times the incumbent: a prediction that settles
constexpr double error_of_dropping = 0.1;   // an arm that is dropped is tried again some day
constexpr double error_of_returning = 0.1;  // to the library's own, from an arm that was never compared
constexpr double first_share = 0.75;        // of the error, for the first challenger
constexpr std::uint32_t probation = 48;     // calls that are watched after a change
constexpr double strange = 10;              // times what is typical: watched calls that took longer count as this
constexpr double most_excess = 2;           // calls that they may take longer than the arm before, in all
constexpr std::uint32_t clear_pairs = 6;    // that show a gain, if none says otherwise
constexpr std::uint32_t most_pairs = 128;
constexpr std::uint64_t well_known = 8;                  // calls
constexpr std::uint64_t thoroughly_known = 64;           // calls, however much they differ
constexpr std::uint32_t burst = 4;                       // calls of a sample
constexpr std::uint32_t first_sample = 3;                // before anything is tried: one may have been held up
constexpr std::uint64_t first_gap = 32, last_gap = 256;  // calls between samples
constexpr double sampling_share = 0.005;                 // of the time spent that agreeing on samples may take
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Guard::Guard(std::span<const double> predicted, GuardRules rules, std::span<const ArmEvidence> known,
             std::optional<std::size_t> winner)
    : rules_(rules),
      known_(known.begin(), known.end()),
      retest_at_(rules.retest_after),
      retest_gap_(rules.retest_after),
      sample_gap_(first_gap) {
  if (predicted.empty()) throw InputError("a choice needs one arm at least");
  if (winner && *winner >= predicted.size()) throw InputError("the winner is none of the arms");
  if (!known.empty() && known.size() != predicted.size())
    throw InputError("evidence on as many arms as there are is wanted");
  if (!(rules.margin >= 0 && rules.error > 0 && rules.drift > 0 && rules.retest_after > 0))
    throw InputError("a guard's margin is not negative, and its error, drift and calls up to a retest are positive");
  known_.resize(predicted.size());
  for (const double seconds : predicted) {
    arms_.push_back({.predicted = is_cost(seconds) ? seconds : nan});
    meetings_.push_back({.test = PairTest(rules.margin), .costs = {}});
  }
  if (winner) {
    incumbent_ = *winner;
  } else if (rules.calibrated) {
    const auto best = std::ranges::min_element(arms_, [](const ArmState& a, const ArmState& b) {
      return a.predicted < b.predicted || (is_cost(a.predicted) && !is_cost(b.predicted));
    });
    if (best->predicted * clear_gain <= arms_[0].predicted) incumbent_ = static_cast<std::size_t>(best - arms_.begin());
  }
  unverified_ = incumbent_ != 0;
  arms_[incumbent_].verdict = Verdict::incumbent;
  meetings_[incumbent_].served = true;
  const ArmEvidence& best = known_[incumbent_];
  if (winner && best.calls >= well_known && is_cost(best.seconds)) {
    reference_ = best.seconds;
    for (std::size_t arm = 1; arm < arms_.size(); ++arm) {  // the library's own is met in any case
      const ArmEvidence& other = known_[arm];
      if (arm == incumbent_ || other.calls < well_known || !is_cost(other.seconds)) continue;
      const double doubt =
          rules.margin + most_noise * std::max(best.spread, other.spread) *
                             std::sqrt(1 / static_cast<double>(best.calls) + 1 / static_cast<double>(other.calls));
      const bool slower = other.seconds > best.seconds * (1 + rules.margin);
      if (other.no_better * error_of_dropping >= 1 || other.seconds > best.seconds * (1 + doubt) ||
          (other.calls >= thoroughly_known && other.seconds * (1 + rules.margin) > best.seconds))
        arms_[arm].verdict = slower ? Verdict::worse : Verdict::even;
    }
  }
  if (unverified_) {
    const auto expected = [&](std::size_t arm) { return winner ? known_[arm].seconds : arms_[arm].predicted; };
    watch(0, expected(incumbent_) / expected(0));
  }
  believe();
}

bool Guard::due() const { return outstanding_; }

void Guard::seen(std::size_t arm, std::uint64_t calls, double seconds) {
  if (!is_cost(seconds)) return;
  calls_ += calls;
  arms_[arm].calls += calls;
  spent_ += static_cast<double>(calls) * seconds;
  learn({.arm = arm, .trial = false, .pair = -1}, seconds);
  believe();
}

void Guard::learn(const Timed& call, double seconds) {
  ArmState& state = arms_[call.arm];
  Costs& costs = meetings_[call.arm].costs;
  if (++state.timed == 1 && call.trial) {
    state.typical = meetings_[call.arm].first = seconds;
    return;
  }
  if (call.trial) {
    Meeting& meeting = meetings_[call.arm];
    ++meeting.shown;
    meeting.longest = std::max(meeting.longest, seconds);
  }
  costs.add(seconds);
  state.typical = costs.typical();
  state.spread = costs.spread();
}

/// Adds up what is spent and lost. Incumbents first: challengers are compared with what is known then.
void Guard::price(std::span<const double> costs) {
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (is_cost(costs[i]) && !posted_[i].trial) learn(posted_[i], costs[i]);
  const bool known = is_cost(typical());
  if (known) spent_ += static_cast<double>(std::exchange(unpriced_, 0)) * typical();
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (!is_cost(costs[i])) {
      known ? void(spent_ += typical()) : void(++unpriced_);
      continue;
    }
    spent_ += costs[i];
    if (!posted_[i].trial) {
      if (watched_ > 0 && posted_[i].arm == incumbent_) {
        const double excess = std::min(costs[i] / typical(), strange) * watched_ratio_ - 1;
        excess_ += excess;
        longest_ = std::max(longest_, excess);
        --watched_;
      }
      continue;
    }
    learn(posted_[i], costs[i]);
    const ArmState& state = arms_[posted_[i].arm];
    const double most = state.timed >= 3 ? outlier * state.typical : costs[i];
    Meeting& meeting = meetings_[posted_[i].arm];
    const bool cut = costs[i] > posted_[i].limit;
    ++meeting.calls;
    meeting.cut += cut;
    if (cut)  // what is posted at once may collide, and wait for retransmissions
      meeting.fixed += std::max(posted_[i].limit + slower_rest(), known ? std::min(costs[i], most) - typical() : 0.0);
    else if (known)
      meeting.tried += std::min(costs[i], most);
  }
}

void Guard::compare(std::span<const double> costs) {
  Meeting& meeting = meetings_[challenger_];
  for (std::size_t i = 0; i + 1 < costs.size(); ++i) {
    if (posted_[i].pair < 0 || posted_[i + 1].pair != posted_[i].pair) continue;
    const auto [ours, theirs] =
        posted_[i].trial ? std::pair(costs[i + 1], costs[i]) : std::pair(costs[i], costs[i + 1]);
    if (!is_cost(ours) || !is_cost(theirs)) continue;
    meeting.clear_pairs = ours > far_slower * theirs ? meeting.clear_pairs + 1 : 0;
    if (script_ == Script::probe) continue;
    meeting.test.add(exact_log(ours / theirs));
    meeting.ours += std::min(ours, outlier * typical());
    meeting.theirs += std::min(theirs, outlier * typical());
  }
}

void Guard::tell(std::span<const double> costs) {
  if (!outstanding_) throw InputError("costs are told to a guard that waits for none");
  if (costs.size() != posted_.size())
    throw InputError("the guard waits for " + std::to_string(posted_.size()) + " costs and is told " +
                     std::to_string(costs.size()));
  outstanding_ = false;
  price(costs);
  const bool trying = script_ == Script::probe || script_ == Script::pairs;
  (trying ? meetings_[challenger_].fixed : closed_) +=
      rules_.post_seconds + rules_.timed_seconds * static_cast<double>(costs.size());
  if (script_ == Script::probe || script_ == Script::pairs) compare(costs);
  if (script_ == Script::sample) look_for_drift();
  believe();
  // One outlier may be anybody's. If the others do not make up for it another one is watched for.
  if (watched_ == 0 && excess_ > most_excess && !watched_again_) {
    watched_ = probation;
    watched_again_ = true;
  }
  if (excess_ - longest_ > (probation - watched_ < 4 * burst && !watched_again_ ? strange : most_excess)) {
    closed_ += excess_ * typical() / watched_ratio_;
    commit(replaced_, Verdict::open);  // tried again when the budget has made up for it
  } else if (script_ == Script::probe || script_ == Script::pairs) {
    judge();
  }
  if (watched_ == 0) excess_ = longest_ = 0;
  script_ = Script::none;
}

double Guard::error_of(std::size_t arm) const {
  if (unverified_ && arm == 0) return error_of_returning;
  const double others = static_cast<double>(arms_.size()) - 2;
  if (others <= 0) return rules_.error;
  return rules_.error * (meetings_[arm].first_trial ? first_share : (1 - first_share) / others);
}

/// Of the challenger: whether all of its calls are that much shorter that chance is no explanation.
bool Guard::unmistakable() const {
  const Meeting& meeting = meetings_[challenger_];
  const Costs& ours = meetings_[incumbent_].costs;
  if (meeting.longest * far_slower >= ours.least()) return false;
  double ways = 1;
  for (std::uint32_t i = 1; i <= meeting.shown; ++i) ways *= static_cast<double>(ours.size() + i) / i;
  return ways * error_of(challenger_) >= 1;
}

void Guard::judge() {
  const ArmState& state = arms_[challenger_];
  Meeting& meeting = meetings_[challenger_];
  meeting.first_trial = meeting.first_trial || std::ranges::none_of(meetings_, &Meeting::met);
  meeting.met = true;
  if (unverified_ && challenger_ == 0) {
    if (meeting.clear_pairs >= 2) return commit(0, Verdict::open);
    const bool known = known_[0].calls >= well_known && known_[incumbent_].calls >= well_known;
    // Evidence that a first look confirms.
    if (script_ == Script::probe && known && state.typical > typical() * clear_gain) return conclude(Verdict::worse);
  }
  // Clear losers need no statistics, only a second look.
  if (state.timed >= 2 && std::min(meeting.first, state.typical) > far_slower * typical())
    return conclude(Verdict::worse);
  if (meeting.cut >= 2 && 2 * meeting.cut > meeting.calls) return conclude(Verdict::worse);
  if (script_ == Script::probe) return;
  const PairTest& test = meeting.test;
  const ArmEvidence& before = known_[challenger_];
  const bool better = before.better * test.better() * error_of(challenger_) >= 1 && meeting.theirs < meeting.ours;
  if (better || unmistakable()) {
    const std::size_t replaced = incumbent_;
    const double ratio = state.typical / meetings_[replaced].costs.mean(costs_kept);
    commit(challenger_, unverified_ ? Verdict::open : Verdict::worse);
    if (challenger_ != 0) watch(replaced, ratio);
    return;
  }
  const bool gains = meeting.theirs * clear_gain < meeting.ours;  // by its rare calls
  if ((before.no_better * test.no_better() * error_of_dropping >= 1 && !gains) || test.pairs() >= most_pairs)
    conclude(meeting.theirs > meeting.ours * (1 + rules_.margin) ? Verdict::worse : Verdict::even);
}

/// Of the challenger: the incumbent stays.
void Guard::conclude(Verdict verdict) {
  arms_[challenger_].verdict = verdict;
  if (challenger_ == 0) unverified_ = false;
  reference_ = typical();
  good_until_ = calls_;
}

void Guard::close_accounts() {
  closed_ = lost();
  for (Meeting& meeting : meetings_) {
    meeting.test = PairTest(rules_.margin);
    meeting.met = meeting.first_trial = false;
    meeting.tried = meeting.fixed = meeting.ours = meeting.theirs = 0;
    meeting.calls = meeting.cut = 0;
    meeting.clear_pairs = meeting.shown = 0;
    meeting.longest = 0;
  }
  for (ArmEvidence& arm : known_) arm.better = arm.no_better = 1;  // was about another incumbent, or another network
}

std::vector<ArmEvidence> Guard::learned(std::span<const std::string_view> names) const {
  if (names.size() != arms_.size()) throw InputError("a name of each arm is wanted");
  std::vector<ArmEvidence> evidence;
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    const ArmState& state = arms_[arm];
    if (state.timed == 0) continue;
    const auto bounded = [](double value) { return std::clamp(value, least_e_value, most_e_value); };
    const PairTest& test = meetings_[arm].test;
    evidence.push_back({std::string(names[arm]), state.timed, state.typical, state.spread, bounded(test.better()),
                        bounded(test.no_better())});
  }
  return evidence;
}

/// Medians decide on changes. What waits for retransmissions now and then is found out when it is in use.
void Guard::watch(std::size_t replaced, double ratio) {
  if (!is_cost(ratio) || !rules_.may_change) return;
  replaced_ = replaced;
  watched_ratio_ = ratio;
  watched_ = probation;
  watched_again_ = false;
}

void Guard::commit(std::size_t arm, Verdict of_the_other) {
  close_accounts();
  // What an arm has cost that should not have been in use; it is tried again like any other.
  if (arm == 0) closed_ += static_cast<double>(calls_ - good_until_) * std::max(0.0, typical() - arms_[0].typical);
  arms_[incumbent_].verdict = of_the_other;
  arms_[arm].verdict = Verdict::incumbent;
  incumbent_ = arm;
  meetings_[arm].served = true;
  unverified_ = false;
  reference_ = arms_[arm].typical;
  good_until_ = calls_;
  watched_ = 0;
  excess_ = longest_ = 0;
  believe();
}

void Guard::reopen() {
  close_accounts();
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    if (arm == incumbent_) continue;
    arms_[arm].verdict = Verdict::open;
    meetings_[arm].costs.forget(3);  // what is measured now soon outweighs them
  }
  reference_ = typical();
}

void Guard::look_for_drift() {
  if (!is_cost(typical())) return;
  const double looking = rules_.post_seconds + burst * rules_.timed_seconds;
  const double affordable = looking / (sampling_share * typical());
  sample_gap_ =
      std::max(std::min(2 * sample_gap_, last_gap), static_cast<std::uint64_t>(std::clamp(affordable, 0.0, 1e9)));
  sample_at_ = calls_ + sample_gap_;
  Costs& costs = meetings_[incumbent_].costs;
  if (costs.size() < burst) return;
  const double now = costs.median(burst), limit = 1 + std::max(rules_.drift, 2 * costs.spread());
  if (reference_ == 0) reference_ = typical();
  const bool drifted = now > reference_ * limit || now * limit < reference_;
  if (drifted && suspected_) {
    costs.forget(burst);
    arms_[incumbent_].typical = costs.typical();
    if (rules_.may_change) reopen();
  } else if (drifted) {
    sample_at_ = calls_ + burst;  // a rank may have been slow for a moment
  } else {
    good_until_ = calls_;
  }
  suspected_ = drifted && !suspected_;
}

bool Guard::settled() const {
  if (!rules_.may_change) return true;
  if (script_ == Script::probe || script_ == Script::pairs) return false;
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    if (arms_[arm].verdict != Verdict::open) continue;
    const bool believed_slower = meetings_[arm].met && arms_[arm].ratio > clear_gain;
    if (!believed_slower && arms_[arm].ratio <= far_behind) return false;
  }
  return true;
}

void Guard::begin(Script script, std::size_t challenger, std::uint32_t count) {
  script_ = script;
  challenger_ = challenger;
  const Turn a{incumbent_, true, false};
  Turn b{challenger, true, false};
  if (challenger != incumbent_ && can_be_cut(challenger))
    b.limit = std::max(patience(challenger), left() / count - slower_rest());
  std::vector<std::pair<Turn, int>> turns;
  if (script == Script::sample) turns.assign(count, {a, -1});
  if (script == Script::probe) turns = {{a, 0}, {b, 0}};
  if (script == Script::pairs) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const bool backwards = (meetings_[challenger].test.pairs() + i) % 2;
      turns.emplace_back(backwards ? b : a, i);
      turns.emplace_back(backwards ? a : b, i);
    }
  }
  turns.back().first.post = true;
  turns_.assign(turns.rbegin(), turns.rend());
}

void Guard::plan() {
  if (calls_ >= retest_at_ && rules_.may_change) {
    retest_gap_ *= 2;
    retest_at_ = calls_ + retest_gap_;
    reopen();
  }
  const std::size_t known = meetings_[incumbent_].costs.size();
  if (known < first_sample) return begin(Script::sample, incumbent_, first_sample - static_cast<std::uint32_t>(known));
  const auto watch_some = [&] {  // 4, 4, 8, 16, 16
    const std::uint32_t seen = probation - watched_;
    begin(Script::sample, incumbent_, std::min(watched_, std::clamp(seen, burst, 4 * burst)));
  };
  if (watched_ > 0 && !unverified_) return watch_some();  // the library's own is met first
  if (rules_.may_change) {
    std::optional<std::size_t> best;
    std::uint32_t best_pairs = 0;
    const std::uint32_t least_pairs = rules_.post_seconds > typical() / 4 ? clear_pairs : 2;
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      if (arms_[arm].verdict != Verdict::open || (best && arms_[*best].ratio <= arms_[arm].ratio)) continue;
      // Of a long trial several blocks together: costs are agreed on more rarely. Where that is dear all pairs that a
      // change takes. Half a block where no more is held.
      std::uint32_t pairs = 1;
      if (meetings_[arm].met) pairs = std::max(least_pairs, meetings_[arm].test.pairs() / 8 * 2);
      while (pairs > 1 && !holds(arm, pairs)) pairs /= 2;
      if (!holds(arm, pairs)) continue;
      best = arm;
      best_pairs = pairs;
    }
    if (best) return begin(meetings_[*best].met ? Script::pairs : Script::probe, *best, best_pairs);
  }
  if (watched_ > 0) return watch_some();
  if (calls_ >= sample_at_) begin(Script::sample, incumbent_, burst);
}

Turn Guard::next() {
  if (due()) throw InputError("the guard waits for costs before the next call");
  ++calls_;
  if (calls_ > 1 && turns_.empty()) plan();
  Turn turn{incumbent_, false, false};
  int pair = -1;
  if (!turns_.empty()) {
    std::tie(turn, pair) = turns_.back();
    turns_.pop_back();
  }
  const bool trial = turn.arm != incumbent_;
  if (!trial && unverified_ && can_be_cut(incumbent_)) turn.limit = patience_with_unverified();
  ++arms_[turn.arm].calls;
  trials_ += trial;
  if (turn.timed)
    timed_.push_back({turn.arm, trial, pair, turn.limit});
  else if (is_cost(typical()))
    spent_ += typical();
  else
    ++unpriced_;
  if (turn.post) {
    posted_ = std::exchange(timed_, {});
    outstanding_ = true;
  }
  return turn;
}

}  // namespace hocket
