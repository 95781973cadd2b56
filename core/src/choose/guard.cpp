#include "hocket/choose/guard.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "hocket/error.hpp"

namespace hocket {
namespace {

constexpr double clear_gain = 1.10;        // by which a calibrated prediction decides the first call
constexpr double unknown_ratio = 1.5;      // believed of an arm of which nothing is known
constexpr double far_behind = 3;           // times the incumbent: a prediction that settles
constexpr double error_of_dropping = 0.1;  // an arm that is dropped is tried again some day
constexpr std::uint32_t most_pairs = 128;
constexpr std::size_t costs_kept = 31;
constexpr std::uint64_t calls_known_well = 8;
constexpr std::uint64_t first_gap = 32, last_gap = 256;  // calls between samples
constexpr std::uint32_t burst = 4;                       // calls of a sample

double quantile(std::vector<double> values, double part) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

bool is_cost(double seconds) { return std::isfinite(seconds) && seconds > 0; }

}  // namespace

Guard::Guard(std::vector<double> predicted, GuardRules rules, std::span<const ArmEvidence> known,
             std::optional<std::size_t> winner)
    : rules_(rules),
      known_(known.begin(), known.end()),
      retest_at_(rules.retest_after),
      retest_gap_(rules.retest_after),
      sample_gap_(first_gap) {
  if (predicted.empty()) throw InputError("a choice needs an arm at least");
  if (winner && *winner >= predicted.size()) throw InputError("the winner is none of the arms");
  known_.resize(predicted.size());
  for (const double seconds : predicted) {
    arms_.push_back({.predicted = is_cost(seconds) ? seconds : std::numeric_limits<double>::quiet_NaN()});
    meetings_.push_back({PairTest(rules.margin), false, {}});
  }
  const auto well_known = [&](std::size_t arm) {
    return known_[arm].calls >= calls_known_well && is_cost(known_[arm].seconds);
  };
  if (winner) {
    incumbent_ = *winner;
  } else if (rules.calibrated && is_cost(arms_[0].predicted)) {
    for (std::size_t arm = 1; arm < arms_.size(); ++arm)
      if (arms_[arm].predicted * clear_gain <= arms_[0].predicted &&
          (incumbent_ == 0 || arms_[arm].predicted < arms_[incumbent_].predicted))
        incumbent_ = arm;
  }
  unverified_ = incumbent_ != 0;
  arms_[incumbent_].verdict = Verdict::incumbent;
  if (winner && well_known(*winner)) {
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      if (arm == incumbent_ || !well_known(arm) || (arm == 0 && unverified_)) continue;
      arms_[arm].verdict =
          known_[arm].seconds > known_[*winner].seconds * (1 + rules.margin) ? Verdict::worse : Verdict::even;
    }
  }
  believe();
}

bool Guard::due() const { return outstanding_ && turns_.empty() && since_ >= rules_.lag; }

double Guard::typical(std::size_t arm) const { return arms_[arm].typical; }

double Guard::budget() const {
  const double call = typical(incumbent_);
  return rules_.budget_share * spent_ + (is_cost(call) ? rules_.budget_calls * call : 0);
}

bool Guard::holds(std::size_t challenger, std::uint32_t calls) const {
  const double excess = std::max(0.0, arms_[challenger].ratio - 1) * calls * typical(incumbent_);
  return lost_ + excess + rules_.post_seconds <= budget();
}

void Guard::believe() {
  const auto measured = [&](std::size_t arm) { return !meetings_[arm].costs.empty(); };
  const double now = typical(incumbent_);
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    ArmState& state = arms_[arm];
    double prior = unknown_ratio;
    if (known_[arm].calls > 0 && known_[incumbent_].calls > 0)
      prior = known_[arm].seconds / known_[incumbent_].seconds;
    else if (rules_.calibrated && is_cost(state.predicted) && is_cost(now))
      prior = state.predicted / now;
    else if (is_cost(state.predicted) && is_cost(arms_[incumbent_].predicted))
      prior = state.predicted / arms_[incumbent_].predicted;
    if (arm == incumbent_)
      state.ratio = 1;
    else if (!measured(arm) || !is_cost(now))
      state.ratio = prior;
    else if (state.timed == 1)  // its first call, which may have opened connections
      state.ratio = std::sqrt(prior * state.typical / now);
    else
      state.ratio = state.typical / now;
  }
}

void Guard::learn(std::size_t arm, double seconds) {
  std::vector<double>& costs = meetings_[arm].costs;
  if (arms_[arm].timed == 1 && arm != incumbent_) costs.clear();  // the first call stands for others only while alone
  if (costs.size() == costs_kept) costs.erase(costs.begin());
  costs.push_back(seconds);
  ArmState& state = arms_[arm];
  ++state.timed;
  state.typical = quantile(costs, 0.5);
  state.spread = (quantile(costs, 0.75) - quantile(costs, 0.25)) / 2 / state.typical;
}

void Guard::tell(std::span<const double> costs) {
  if (!outstanding_) throw InputError("costs are told to a guard that waits for none");
  if (costs.size() != posted_.size())
    throw InputError("the guard waits for " + std::to_string(posted_.size()) + " costs and is told " +
                     std::to_string(costs.size()));
  outstanding_ = false;
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (is_cost(costs[i]) && !posted_[i].trial) learn(posted_[i].arm, costs[i]);
  const double call = typical(incumbent_);
  if (is_cost(call)) {
    spent_ += static_cast<double>(unpriced_) * call;
    unpriced_ = 0;
  }
  lost_ += rules_.post_seconds;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (is_cost(costs[i])) {
      spent_ += costs[i];
      if (!posted_[i].trial) continue;
      learn(posted_[i].arm, costs[i]);
      if (is_cost(call)) lost_ += std::max(0.0, costs[i] - call);
    } else {
      spent_ += is_cost(call) ? call : 0;
    }
  }
  if (script_ == Script::blocks) {
    for (std::size_t i = 0; i + 1 < costs.size(); ++i) {
      if (posted_[i].pair < 0 || posted_[i + 1].pair != posted_[i].pair) continue;
      if (!is_cost(costs[i]) || !is_cost(costs[i + 1])) continue;
      const double log_ratio = exact_log(costs[i] / costs[i + 1]);
      meetings_[challenger_].test.add(posted_[i].trial ? -log_ratio : log_ratio);
    }
  }
  if (script_ == Script::sample) look_for_drift();
  believe();
  if (script_ == Script::probe || script_ == Script::blocks) judge();
  script_ = Script::none;
}

void Guard::judge() {
  ArmState& state = arms_[challenger_];
  const PairTest& test = meetings_[challenger_].test;
  meetings_[challenger_].met = true;
  const double error = rules_.error / static_cast<double>(arms_.size() - 1);
  if (unverified_ && challenger_ == 0) {
    unverified_ = false;
    if (state.typical * clear_gain < typical(incumbent_)) {
      lost_ += static_cast<double>(arms_[incumbent_].calls) * (typical(incumbent_) - state.typical);
      const std::size_t predicted = incumbent_;
      commit(0);
      arms_[predicted].verdict = Verdict::open;
      return;
    }
  }
  if (test.better() * error >= 1) {
    commit(challenger_);
  } else if (test.no_better() * error_of_dropping >= 1 || test.pairs() >= most_pairs) {
    state.verdict = state.ratio > 1 + rules_.margin ? Verdict::worse : Verdict::even;
    reference_ = typical(incumbent_);
  }
}

void Guard::commit(std::size_t arm) {
  arms_[incumbent_].verdict = Verdict::worse;
  arms_[arm].verdict = Verdict::incumbent;
  incumbent_ = arm;
  for (Meeting& meeting : meetings_) meeting.test = PairTest(rules_.margin);
  reference_ = typical(arm);
  believe();
}

void Guard::reopen() {
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    if (arm == incumbent_) continue;
    arms_[arm].verdict = Verdict::open;
    meetings_[arm].met = false;
    meetings_[arm].test = PairTest(rules_.margin);
  }
  reference_ = typical(incumbent_);
}

void Guard::look_for_drift() {
  sample_gap_ = std::min(2 * sample_gap_, last_gap);
  sample_at_ = calls_ + sample_gap_;
  const std::vector<double>& costs = meetings_[incumbent_].costs;
  if (costs.size() < burst) return;
  const double now = quantile({costs.end() - burst, costs.end()}, 0.5);
  if (reference_ == 0) reference_ = typical(incumbent_);
  const double limit = 1 + std::max(rules_.drift, 2 * arms_[incumbent_].spread);
  const bool drifted = now > reference_ * limit || now * limit < reference_;
  if (drifted && suspected_) {
    meetings_[incumbent_].costs.erase(meetings_[incumbent_].costs.begin(), meetings_[incumbent_].costs.end() - burst);
    arms_[incumbent_].typical = now;
    reopen();
  } else if (drifted) {
    sample_at_ = calls_ + burst;
  }
  suspected_ = drifted && !suspected_;
}

bool Guard::settled() const {
  if (script_ == Script::probe || script_ == Script::blocks) return false;
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    if (arms_[arm].verdict != Verdict::open) continue;
    if (arms_[arm].ratio > far_behind || (meetings_[arm].met && arms_[arm].ratio > clear_gain)) continue;
    return false;
  }
  return true;
}

void Guard::begin(Script script, std::size_t challenger, std::uint32_t blocks) {
  script_ = script;
  challenger_ = challenger;
  const Turn a{incumbent_, true, false}, b{challenger, true, false};
  std::vector<std::pair<Turn, int>> turns;
  if (script == Script::probe) turns = {{a, 0}, {b, 0}};
  if (script == Script::sample) turns.assign(is_cost(typical(incumbent_)) ? burst : 1, {a, -1});
  for (int block = 0; script == Script::blocks && block < static_cast<int>(blocks); ++block)
    turns.insert(turns.end(), {{a, 2 * block}, {b, 2 * block}, {b, 2 * block + 1}, {a, 2 * block + 1}});
  turns.back().first.post = true;
  if (led_in_ && turns.size() > 1) {
    timed_.back().pair = turns.front().second;
    turns.erase(turns.begin());
  }
  turns_.assign(turns.rbegin(), turns.rend());
}

void Guard::plan() {
  if (!is_cost(typical(incumbent_))) return begin(Script::sample, incumbent_, 0);
  if (calls_ >= retest_at_) {
    retest_gap_ *= 2;
    retest_at_ = calls_ + retest_gap_;
    reopen();
  }
  if (rules_.may_change) {
    std::optional<std::size_t> next;
    std::uint32_t blocks = 0;
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      if (arms_[arm].verdict != Verdict::open) continue;
      const Meeting& meeting = meetings_[arm];
      const std::uint32_t wanted = std::max(1u, meeting.test.pairs() / 8);
      if (!holds(arm, meeting.met ? 2 * wanted : 1)) continue;
      if (next && arms_[*next].ratio <= arms_[arm].ratio) continue;
      next = arm;
      blocks = wanted;
    }
    if (next) return begin(meetings_[*next].met ? Script::blocks : Script::probe, *next, blocks);
  }
  if (calls_ >= sample_at_) begin(Script::sample, incumbent_, 0);
}

Turn Guard::next() {
  if (due()) throw InputError("the guard waits for costs before the next call");
  ++calls_;
  if (calls_ > 1 && turns_.empty() && !outstanding_) plan();
  Turn turn{incumbent_, false, false};
  int pair = -1;
  if (!turns_.empty()) {
    std::tie(turn, pair) = turns_.back();
    turns_.pop_back();
  } else if (outstanding_) {
    turn.timed = ++since_ >= rules_.lag;  // may begin the next block
  }
  const bool trial = turn.arm != incumbent_;
  ++arms_[turn.arm].calls;
  trials_ += trial;
  led_in_ = turn.timed && !trial && !turn.post;
  if (turn.timed)
    timed_.push_back({turn.arm, trial, pair});
  else if (is_cost(typical(incumbent_)))
    spent_ += typical(incumbent_);
  else
    ++unpriced_;
  if (turn.post) {
    posted_ = std::exchange(timed_, {});
    outstanding_ = true;
    since_ = 0;
  }
  return turn;
}

}  // namespace hocket
