#include "core/choose/chooser.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace hocket {

namespace {

constexpr double log_2 = 0.69314718055994530942;

}  // namespace

double exact_log(double x) {
  constexpr double root_half = 0.70710678118654752440;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < root_half) {
    mantissa *= 2;
    --exponent;
  }
  const double z = (mantissa - 1) / (mantissa + 1), square = z * z;  // |z| <= 0.172
  double sum = 0;
  for (int odd = 13; odd >= 1; odd -= 2) sum = sum * square + 1.0 / odd;
  return 2 * z * sum + exponent * log_2;
}

double exact_exp(double x) {
  constexpr double most = 700;
  x = std::clamp(x, -most, most);
  const double doublings = std::floor(x / log_2 + 0.5), rest = x - doublings * log_2;  // |rest| <= 0.35
  double sum = 1;
  for (int k = 12; k >= 1; --k) sum = 1 + sum * rest / k;
  return std::ldexp(sum, static_cast<int>(doublings));
}

namespace {

constexpr double noise_calls = 8;  // calls that spread::call stands for
constexpr double outlier = 2;      // standard deviations: what is further off counts as this

/// The mean of what of X is above 0, X distributed like a triangle about `centre`.
double positive_part(double centre, double deviation) {
  const double half = deviation * std::sqrt(6.0);
  if (centre <= -half) return 0;
  if (centre >= half) return centre;
  const double rest = half - std::abs(centre);
  return std::max(centre, 0.0) + rest * rest * rest / (6 * half * half);
}

}  // namespace

Chooser::Chooser(std::span<const double> predicted, double agree_seconds, double setup_seconds, double opening_seconds)
    : beliefs_(predicted.size()),
      noise_(predicted.size(), spread::call * spread::call),
      outliers_(predicted.size()),
      agree_seconds_(agree_seconds),
      setup_seconds_(setup_seconds),
      opening_seconds_(opening_seconds) {
  if (predicted.empty()) throw InputError("there is no candidate to choose");
  const std::size_t n = predicted.size();
  const auto known = std::ranges::find_if(predicted, is_cost);
  const double usual = known != predicted.end() ? exact_log(*known) : 0;
  covariance_.assign(n * n, 0);
  for (std::size_t a = 0; a < n; ++a) {
    const bool is_known = is_cost(predicted[a]);
    mean_.push_back(is_known ? exact_log(predicted[a]) : usual);
    for (std::size_t b = 1; b < n && a > 0; ++b) covariance(a, b) = spread::prediction * spread::prediction;
    const double own = a > 0 && is_known ? spread::candidate : spread::unknown;
    covariance(a, a) += own * own;
  }
  for (std::size_t a = 0; a < n; ++a) beliefs_[a].seconds = exact_exp(mean_[a]);
}

void Chooser::recall(std::size_t candidate, double seconds) {
  if (!is_cost(seconds)) return;
  update(candidate, exact_log(seconds), spread::kept * spread::kept);
  beliefs_[candidate].timed = std::max<std::uint64_t>(beliefs_[candidate].timed, 1);
}

void Chooser::seen(std::size_t candidate, std::uint64_t calls, double seconds) {
  calls_ += calls;
  beliefs_[candidate].calls += calls;
  timed_ = candidate;
  learn(seconds);
  spent_ += static_cast<double>(calls) * beliefs_[candidate].seconds;
}

double Chooser::noise(std::size_t candidate) const { return std::sqrt(noise_[candidate]); }

/// A schedule that has not served, and of which no earlier job tells.
bool Chooser::is_new(std::size_t candidate) const {
  return candidate > 0 && beliefs_[candidate].calls == 0 && beliefs_[candidate].timed == 0;
}

/// Growth of the logarithm of a cost of so many seconds that is expected of a first call, and its standard deviation:
/// opening connections takes as long in short calls as in long ones.
double Chooser::first_call(double seconds) const {
  const double longer = opening_seconds_ / seconds;
  return longer < exact_exp(spread::first_call) - 1 ? exact_log(1 + longer) : spread::first_call;
}

/// Standard deviation of what a measured call of `candidate` changes of its mean beside that of `other`. A first call
/// tells less, but others follow it.
double Chooser::learned(std::size_t candidate, std::size_t other) const {
  const double variance = covariance(candidate, candidate);
  return std::abs(variance - covariance(candidate, other)) / std::sqrt(variance + noise_[candidate]);
}

/// After a first call, which took longer than others will, all schedules that were not tried would seem cheaper.
std::size_t Chooser::best() const {
  std::size_t of_known = 0, of_new = 0;
  for (std::size_t c = 1; c < beliefs_.size(); ++c) {
    std::size_t& least = is_new(c) ? of_new : of_known;
    if (least == 0 || mean_[c] < mean_[least]) least = c;
  }
  const std::size_t schedule = of_known > 0 ? of_known : of_new;
  return mean_[schedule] < mean_[0] ? schedule : 0;
}

Decision Chooser::next() {
  const std::size_t n = beliefs_.size(), least = best();
  const auto horizon = static_cast<double>(std::max<std::uint64_t>(calls_, 1));
  const double cost = beliefs_[least].seconds, native = beliefs_[0].seconds;
  std::size_t second = least;
  for (std::size_t c = 0; c < n; ++c)
    if (c != least && (second == least || mean_[c] < mean_[second])) second = c;
  Decision decision{.candidate = least};
  double most = n > 1 ? horizon * positive_part(-std::abs(mean_[least] - mean_[second]), learned(least, second)) : 0;
  const bool worth_timing = most > agree_seconds_ / cost;
  for (std::size_t c = 0; c < n; ++c) {
    if (c == least) continue;
    const bool is_first = c > 0 && beliefs_[c].calls == 0;
    double loss = beliefs_[c].seconds / cost * (is_first ? exact_exp(first_call(beliefs_[c].seconds)) : 1) - 1;
    if (c > 0 && beliefs_[c].timed < calls_cut) loss = std::min(loss, patience * native / cost - 1);
    if (is_first) loss += setup_seconds_ / cost;
    const double worth =
        horizon * positive_part(mean_[least] - mean_[c], learned(c, least)) - loss - agree_seconds_ / cost;
    if (worth > most) {
      most = worth;
      decision.candidate = c;
    }
  }
  const bool is_trial = decision.candidate != least;
  const bool affordable = agreeing_ + agree_seconds_ <= timing_share * (spent_ + cost);
  decision.timed = n > 1 && (is_trial || worth_timing || affordable);
  timed_ = decision.candidate;
  trials_ += is_trial ? 1 : 0;
  if (decision.timed) agreeing_ += agree_seconds_;
  return counted(decision);
}

/// The call of this decision is made, and its limit known.
Decision Chooser::counted(Decision decision) {
  Belief& chosen = beliefs_[decision.candidate];
  if (decision.candidate > 0 && chosen.timed < calls_cut && beliefs_[0].timed > 0)
    decision.limit = patience * beliefs_[0].seconds;
  ++calls_;
  ++chosen.calls;
  spent_ += chosen.seconds;
  for (std::size_t c = 0; c < beliefs_.size(); ++c)
    if (covariance(c, c) > 0) covariance(c, c) += spread::drift * spread::drift;
  return decision;
}

void Chooser::learn(double seconds) {
  if (!is_cost(seconds)) return;
  Belief& belief = beliefs_[timed_];
  const double first = first_call(belief.seconds);
  const double noise = belief.timed > 0 ? noise_[timed_] : std::max(noise_[timed_], first * first);
  const double variance = covariance(timed_, timed_) + noise, off = exact_log(seconds) - mean_[timed_];
  const double most = outlier * std::sqrt(variance), seen = std::clamp(off, -most, most);
  const bool is_outlier = seen != off && belief.timed > 1;
  if (belief.timed > 0) {
    double& own = noise_[timed_];
    own += (seen * seen * noise / variance - own) / (noise_calls + static_cast<double>(belief.timed));
    own = std::max(own, spread::least * spread::least);
  }
  // One call may be held up; two in turn show that this candidate has changed.
  if (is_outlier && outliers_[timed_]) covariance(timed_, timed_) += off * off;
  update(timed_, mean_[timed_] + (is_outlier && !outliers_[timed_] ? seen : off), noise);
  outliers_[timed_] = is_outlier && !outliers_[timed_];
  ++belief.timed;
}

void Chooser::update(std::size_t candidate, double log_cost, double variance) {
  const std::size_t n = beliefs_.size();
  const double all = covariance(candidate, candidate) + variance, off = log_cost - mean_[candidate];
  std::vector<double> share(n), row(n);
  for (std::size_t c = 0; c < n; ++c) {
    row[c] = covariance(candidate, c);
    share[c] = row[c] / all;
  }
  for (std::size_t a = 0; a < n; ++a) {
    mean_[a] += share[a] * off;
    for (std::size_t b = 0; b < n; ++b) covariance(a, b) -= share[a] * row[b];
    beliefs_[a].seconds = exact_exp(mean_[a]);
  }
  for (std::size_t a = 0; a < n; ++a) beliefs_[a].spread = std::sqrt(covariance(a, a));
}

}  // namespace hocket
