/// What trials may lose, what they have lost, and what an arm is believed to cost.
#include <algorithm>
#include <cmath>

#include "hocket/choose/guard.hpp"

namespace hocket {
namespace {

constexpr double unknown_ratio = 1.5;         // believed of an arm of which nothing is known
constexpr double doubt_of_prediction = 0.25;  // that is calibrated, or of what one call shows: it may be higher
constexpr double doubt_of_guess = 4;          // that is a rule of thumb, and of an arm that cannot be cut short
constexpr double usual_patience = 1.25;  // times the incumbent, and its noise: calls that take longer are cut short
constexpr double much_faster = 0.8;      // times the incumbent, as is believed: the first call needs no more
constexpr double planned_share = 0.75;   // of the budget: the rest is for what a trial costs more than feared

}  // namespace

double Guard::lost() const {
  double sum = closed_;
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) sum += std::max(0.0, lost_by(arm));
  return sum;
}

/// Negative: it has gained.
double Guard::lost_by(std::size_t arm) const {
  const Meeting& meeting = meetings_[arm];
  return meeting.tried > 0 ? meeting.fixed + meeting.tried * (1 - 1 / feared(arm)) : meeting.fixed;
}

double Guard::budget() const {
  double call = 0;  // by the slowest arm that was in use: what is lost already was paid from two calls of that
  for (std::size_t arm = 0; arm < arms_.size(); ++arm)
    if (meetings_[arm].served && is_cost(arms_[arm].typical)) call = std::max(call, arms_[arm].typical);
  return rules_.budget_share * spent_ + rules_.budget_calls * call;
}

/// What an arm may cost over the incumbent, by what is believed, how little is known, and the noise.
double Guard::feared(std::size_t arm) const {
  const ArmState& state = arms_[arm];
  double doubt = 0;
  if (state.timed > 0) {
    const double spread = std::max(state.spread, arms_[incumbent_].spread);
    const auto ours = static_cast<double>(std::max<std::size_t>(meetings_[incumbent_].costs.size(), 1));
    const auto theirs = static_cast<double>(std::clamp<std::uint64_t>(state.timed, 1, costs_kept));
    doubt =
        doubt_of_prediction / static_cast<double>(state.timed) + most_noise * spread * std::sqrt(1 / ours + 1 / theirs);
  } else if (known_[arm].calls == 0) {
    doubt = rules_.calibrated && is_cost(state.predicted) ? doubt_of_prediction : doubt_of_guess;
  }
  return state.ratio * (1 + doubt);
}

/// Seconds that may be lost by what is tried next.
double Guard::left() const { return planned_share * budget() - lost(); }

/// Seconds that what is left of a call which is cut short may take longer than by the incumbent: it goes as by the
/// library's own.
double Guard::slower_rest() const { return incumbent_ != 0 ? std::max(0.0, feared(0) - 1) * typical() : 0; }

/// Seconds after which a challenger's call is cut short: what it loses at most. What should be far faster shows it
/// within less. How much the incumbent's calls differ counts only for an arm that is not believed to be faster: where
/// they wait for retransmissions a budget of two calls would else never hold a trial.
double Guard::patience(std::size_t challenger) const {
  const ArmState& state = arms_[challenger];
  if (state.timed == 0 && state.ratio <= much_faster) return typical();
  return (usual_patience + (state.ratio < 1 ? 0 : arms_[incumbent_].spread)) * typical();
}

/// The same for calls by an arm that a prediction or evidence has put in the place of the library's own.
double Guard::patience_with_unverified() const {
  const double own = is_cost(arms_[0].typical) ? arms_[0].typical : known_[0].seconds;
  const double seconds = usual_patience * (is_cost(own) ? own : arms_[0].predicted);
  return is_cost(seconds) ? seconds : std::numeric_limits<double>::infinity();
}

bool Guard::holds(std::size_t challenger, std::uint32_t calls) const {
  const auto over_typical = [&](double ratio) { return std::max(0.0, ratio - 1) * typical(); };
  double excess = over_typical(feared(challenger));
  // What is believed to be far slower waits, even if little could be lost.
  if (can_be_cut(challenger))
    excess = std::min(excess, std::max(over_typical(arms_[challenger].ratio), patience(challenger) + slower_rest()));
  const double looking = rules_.post_seconds + 2 * calls * rules_.timed_seconds;
  return excess * calls + looking <= left();
}

/// What is believed of an arm's cost over the incumbent's before any of its calls is known.
double Guard::prior(std::size_t arm) const {
  const ArmEvidence& own = known_[arm];
  const double now = is_cost(typical()) ? typical() : known_[incumbent_].seconds;
  if (own.calls > 0 && is_cost(own.seconds) && is_cost(now)) return own.seconds / now;
  const double predicted = arms_[arm].predicted;
  if (rules_.calibrated && is_cost(predicted) && is_cost(typical())) return predicted / typical();
  const double ratio = predicted / arms_[incumbent_].predicted;
  if (is_cost(ratio)) return rules_.calibrated ? ratio : std::sqrt(ratio * unknown_ratio);
  return unknown_ratio;
}

void Guard::believe() {
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    ArmState& state = arms_[arm];
    if (arm == incumbent_)
      state.ratio = 1;
    else if (!is_cost(state.typical) || !is_cost(typical()))
      state.ratio = prior(arm);
    else if (meetings_[arm].costs.empty())  // only the first call, which may have opened connections
      state.ratio = std::sqrt(prior(arm) * state.typical / typical());
    else
      state.ratio = state.typical / typical();
  }
}

}  // namespace hocket
