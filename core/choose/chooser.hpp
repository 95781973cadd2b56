#pragma once
/// Choice of who serves the next call of one key: the MPI library or one of the schedules. Uses no clock and no MPI.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace hocket {

/// The natural logarithm of a positive number, within 1e-10.
[[nodiscard]] double exact_log(double x);

/// The exponential of a number within ±700, to within 1e-12 of itself; beyond as at the nearest of these.
[[nodiscard]] double exact_exp(double x);

/// Standard deviations of the logarithm of a cost, by what is known of it.
namespace spread {
inline constexpr double unknown = 10;      ///< nothing is known: the library's own call
inline constexpr double prediction = 0.5;  ///< a prediction, wrong alike for all schedules of a place
inline constexpr double candidate = 0.15;  ///< besides, of one candidate beside the others
inline constexpr double first_call = 0.6;  ///< at most, a first call; it is expected to take longer by as much
inline constexpr double call = 0.2;        ///< one call beside the next, until calls show their own
inline constexpr double least = 0.03;      ///< lower limit of `call`, whatever calls show
inline constexpr double kept = 0.2;        ///< a typical cost that an earlier job has measured
inline constexpr double drift = 0.005;     ///< growth per call of each candidate's uncertainty
}  // namespace spread

/// Largest share of the time for timing calls that explore nothing.
inline constexpr double timing_share = 0.01;
/// The first calls by a candidate give up their order after this many times the library's cost.
inline constexpr double patience = 1.25;
inline constexpr std::uint64_t calls_cut = 2;

/// True if the value can be the duration of a call, in seconds.
[[nodiscard]] inline bool is_cost(double seconds) { return seconds >= 1e-12 && seconds <= 1e9; }

/// The candidate that serves a call, and how.
struct Decision {
  std::size_t candidate = 0;
  bool timed = false;  ///< its duration is wanted: learn() before the next one by next()
  double limit = std::numeric_limits<double>::infinity();  ///< seconds; then it gives up its order, if it can
  friend bool operator==(const Decision&, const Decision&) = default;
};

/// Estimate of one candidate.
struct Belief {
  double seconds = std::numeric_limits<double>::quiet_NaN();  ///< expected
  double spread = spread::unknown;                            ///< standard deviation of its logarithm
  std::uint64_t calls = 0;                                    ///< calls served
  std::uint64_t timed = 0;                                    ///< calls served whose costs are known
};

/// The choice between candidates of one key (place, call, size class); candidate 0 is the library's own call.
///
/// The logarithms of their costs are believed to be jointly normal. A prediction is wrong by a factor that all
/// schedules of a place share and by one of their own, so that measuring one tells of the others. Each call that is
/// timed updates what is believed (a Kalman filter), and calls that are not seen for long become uncertain again, so
/// that drift is followed and old losers are looked at anew.
///
/// Each decision weighs what a call costs over one by best() against what may be saved after it, for as many calls
/// again as were made: the knowledge gradient (Frazier, Powell, Dayanik, "The knowledge-gradient policy for correlated
/// normal beliefs", INFORMS J. Computing 2009), with triangular distributions in place of normal ones, so that all is
/// computed by what IEEE 754 rounds in one way and ranks decide alike without asking each other.
class Chooser {
 public:
  /// `predicted`: seconds of a call by each candidate, the library's own unknown (NaN) unless it was measured.
  /// `agree_seconds`: what agreeing on a cost takes the ranks. `setup_seconds`: what a schedule needs, besides, the
  /// first time it serves. `opening_seconds`: what opening connections adds to its first call, at most; infinite where
  /// nobody knows. Throws InputError where there is no candidate.
  explicit Chooser(std::span<const double> predicted, double agree_seconds, double setup_seconds,
                   double opening_seconds);

  /// An earlier job has typically measured so many seconds. Before the first decision.
  void recall(std::size_t candidate, double seconds);

  /// `calls` calls were made by `candidate` before the first decision; one, the last, took `seconds`.
  void seen(std::size_t candidate, std::uint64_t calls, double seconds);

  /// The library's cost is what was seen, for good: beside schedules of others, calls by it would seem faster than
  /// among calls by the library alone, and all would go back to it.
  void fix_native() { covariance(0, 0) = 0; }

  /// Decides which candidate serves the next call.
  [[nodiscard]] Decision next();
  /// The same where nothing new may be tried or timed: best(). The cost of the last timed call may come later.
  [[nodiscard]] Decision stay() { return counted({.candidate = best()}); }

  /// The agreed cost of the last timed call, seconds; what is no cost counts for nothing.
  void learn(double seconds);

  /// The candidate of least expected cost; once a schedule has served or was measured, among those that have.
  [[nodiscard]] std::size_t best() const;
  [[nodiscard]] std::span<const Belief> beliefs() const { return beliefs_; }
  /// Standard deviation of the logarithm of the cost of a call by `candidate`, as its calls show it.
  [[nodiscard]] double noise(std::size_t candidate) const;
  /// Calls that were decided on or seen.
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  /// Calls that another candidate served than best().
  [[nodiscard]] std::uint64_t trials() const { return trials_; }

 private:
  void update(std::size_t candidate, double log_cost, double variance);
  [[nodiscard]] Decision counted(Decision decision);
  [[nodiscard]] bool is_new(std::size_t candidate) const;
  [[nodiscard]] double first_call(double seconds) const;
  [[nodiscard]] double learned(std::size_t candidate, std::size_t other) const;
  [[nodiscard]] double& covariance(std::size_t a, std::size_t b) { return covariance_[a * beliefs_.size() + b]; }
  [[nodiscard]] double covariance(std::size_t a, std::size_t b) const { return covariance_[a * beliefs_.size() + b]; }

  std::vector<Belief> beliefs_;
  std::vector<double> mean_, covariance_;  ///< logarithms of seconds
  std::vector<double> noise_;              ///< per candidate: variance of its calls
  std::vector<bool> outliers_;             ///< per candidate: its last call was far from the estimate
  double agree_seconds_, setup_seconds_, opening_seconds_;
  double spent_ = 0, agreeing_ = 0;  ///< seconds, as expected: in calls, in agreeing on costs
  std::uint64_t calls_ = 0, trials_ = 0;
  std::size_t timed_ = 0;  ///< candidate of the call that is timed
};

}  // namespace hocket
