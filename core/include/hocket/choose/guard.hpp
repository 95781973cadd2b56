#pragma once
/// Which way of carrying out a call is used, and what trying others may cost.
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "hocket/choose/costs.hpp"
#include "hocket/choose/evidence.hpp"
#include "hocket/choose/pair_test.hpp"

namespace hocket {

struct GuardRules {
  double margin = 0.02;               // a gain that is worth a change
  double error = 0.05;                // probability of a wrong change while all arms are tried once
  double budget_share = 0.01;         // of the time spent that trials may lose
  double budget_calls = 2;            // calls of the incumbent that trials may lose besides
  double drift = 0.20;                // change of the incumbent's cost after which others are tried again
  std::uint64_t retest_after = 1000;  // calls; then twice as many, and so on
  bool may_change = true;             // false: no trials; evidence and calibrated predictions decide alone
  bool calibrated = false;            // predictions are of this place: seconds, not only an order
  std::uint64_t can_be_cut = 0;       // arms, a bit each, whose calls end soon after Turn::limit
  // Counted as lost, in a trial by the challenger:
  double post_seconds = 0;   // what agreeing on costs takes from a run
  double timed_seconds = 0;  // what timing a call does
};

/// What the next call does.
struct Turn {
  std::size_t arm;
  bool timed;  // its duration is wanted
  bool post;   // after it, the durations of the timed calls since the last post go to the other ranks
  double limit = std::numeric_limits<double>::infinity();  // seconds: then it gives up its order, if it can
  friend bool operator==(const Turn&, const Turn&) = default;
};

enum class Verdict : std::uint8_t {
  open,       // to be tried when the budget holds it
  incumbent,  // in use
  even,       // no gain that is worth a change
  worse,
};

struct ArmState {
  double predicted;                                           // seconds; NaN: unknown
  std::uint64_t calls = 0;                                    // that it has carried out
  std::uint64_t timed = 0;                                    // whose costs are known
  double typical = std::numeric_limits<double>::quiet_NaN();  // seconds: the median of the last of them
  double spread = 0;                                          // half the distance between the quartiles over the median
  double ratio = 1;                                           // believed cost over the incumbent's
  Verdict verdict = Verdict::open;
};

/// The choice between the arms of one key (placement, call, size class, layout); arm 0 is the library's own. All ranks
/// feed it the same costs and so decide alike: it knows no clock and no chance, and computes with what IEEE 754
/// rounds in one way only, not with functions of a mathematical library, which differ between processors.
///
///     if (guard.due()) guard.tell(agreed costs of the oldest post);
///     const Turn turn = guard.next();
///     ... the call, by turn.arm ...
///
/// The first call is taken for a warm-up. Trials are blocks A B B A of the incumbent A and a challenger B, two pairs
/// for PairTest each, after a probe A B that shows what a block would cost; the first call of B ever may open
/// connections and is no evidence on others.
///
/// A change needs PairTest's evidence, to which earlier runs may have added, and of which the first challenger gets
/// three quarters of the error and the others share the rest, and that the sum over all pairs, in which outliers are
/// cut, says the same: medians alone would choose an arm that is often a bit faster and sometimes waits for a
/// retransmission. For the same reason the first calls after a change are watched: if together they take two calls
/// longer than by the arm before, it returns. So do the first calls by an arm that evidence or a prediction has chosen.
///
/// Or all of a challenger's k calls take less than half of each of the incumbent's last n. Were they of one
/// distribution, the k least of all would be the challenger's with probability 1 / C(n + k, k), and as calls are added
/// that only becomes rarer.
///
/// A probe or block begins only when the budget holds what it may lose. Calls that can be cut short lose no more than
/// their limits: at a limit all that is left is posted at once, which is taken to last as long as that part of the
/// incumbent's call. Other arms wait until the budget holds what a prediction may be wrong by. What is lost beyond that
/// is made up for before anything else is tried.
class Guard {
 public:
  /// `predicted`: seconds of a call by each arm, NaN: unknown. `known`: evidence of earlier runs, by arm, or empty;
  /// `winner`: the arm that it ended with.
  Guard(std::span<const double> predicted, GuardRules rules, std::span<const ArmEvidence> known = {},
        std::optional<std::size_t> winner = {});

  /// Before the first next(): `calls` calls were made by `arm`, of which one typically takes `seconds`.
  void seen(std::size_t arm, std::uint64_t calls, double seconds);

  /// Seconds that finding out has lost besides: they count like those of trials.
  void waste(double seconds) { closed_ += seconds; }

  /// Before next(): the costs of the oldest post must be told first.
  [[nodiscard]] bool due() const;

  /// Agreed costs, seconds, of the timed calls of the oldest post, in order. A cost that is no positive number counts
  /// for nothing. Throws InputError where nothing is posted, or where these are more or fewer.
  void tell(std::span<const double> costs);

  /// What the next call does. Throws InputError while costs are due.
  [[nodiscard]] Turn next();

  /// The arm that calls use which are no trials.
  [[nodiscard]] std::size_t incumbent() const { return incumbent_; }
  /// No trial is under way, and what the budget does not hold yet is believed to be slower.
  [[nodiscard]] bool settled() const;
  /// Seconds that trials have lost: of challengers' calls the part by which they are feared to be slower than the
  /// incumbent's; of those that were cut short all up to the limit, or what they took over the incumbent's call if that
  /// is more; and for calls by an arm that gave way to the library's own, what they took over that. So what delays a
  /// call by any arm counts as far as the arm is slower. Outliers count `outlier` typical calls once three calls of an
  /// arm are known; calls that gained pay for others of the same arm only.
  [[nodiscard]] double lost() const;
  /// Seconds that trials may have lost by now.
  [[nodiscard]] double budget() const;
  /// Seconds under this key: measured, or the incumbent's typical cost for calls that were not.
  [[nodiscard]] double spent() const { return spent_; }
  /// Calls.
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  /// Calls by challengers.
  [[nodiscard]] std::uint64_t trials() const { return trials_; }
  [[nodiscard]] std::span<const ArmState> arms() const { return arms_; }
  /// What a later run may know of the arms that were timed, under their names: of this run alone.
  [[nodiscard]] std::vector<ArmEvidence> learned(std::span<const std::string_view> names) const;

 private:
  /// What is needed of an arm beside what is shown.
  struct Meeting {
    PairTest test;
    Costs costs;                  // without the first as a challenger
    bool met = false;             // probed since it was opened
    bool first_trial = false;     // of all challengers, the first that was met by this incumbent
    double ours = 0, theirs = 0;  // seconds of the test's pairs: the incumbent's calls, the arm's
    double tried = 0;             // seconds: its calls that were not cut short
    double fixed = 0;             // seconds lost by those that were, and by agreeing and timing
    std::uint32_t calls = 0, cut = 0;
    double first = 0;               // seconds of its first call as a challenger
    std::uint32_t clear_pairs = 0;  // the last ones, in which it was far faster
    std::uint32_t shown = 0;        // its calls as a challenger without the first
    double longest = 0;             // seconds, of these
    bool served = false;            // was the incumbent once
  };
  struct Timed {
    std::size_t arm;
    bool trial;  // by a challenger
    int pair;    // of the script; -1: of none
    double limit = std::numeric_limits<double>::infinity();
  };
  enum class Script : std::uint8_t { none, sample, probe, pairs };
  static constexpr double most_noise = 3;  // quartiles of what is known: a ratio is hardly larger than that

  void plan();
  void begin(Script script, std::size_t challenger, std::uint32_t count);
  void learn(const Timed& call, double seconds);
  void price(std::span<const double> costs);
  void compare(std::span<const double> costs);
  void judge();
  [[nodiscard]] bool unmistakable() const;
  void conclude(Verdict verdict);
  void commit(std::size_t arm, Verdict of_the_other);
  void watch(std::size_t replaced, double ratio);
  void reopen();
  void close_accounts();
  void look_for_drift();
  void believe();
  [[nodiscard]] double prior(std::size_t arm) const;
  [[nodiscard]] double error_of(std::size_t arm) const;
  [[nodiscard]] bool can_be_cut(std::size_t arm) const { return arm < 64 && (rules_.can_be_cut >> arm & 1) != 0; }
  [[nodiscard]] double feared(std::size_t arm) const;
  [[nodiscard]] double lost_by(std::size_t arm) const;
  [[nodiscard]] double left() const;
  [[nodiscard]] double slower_rest() const;
  [[nodiscard]] double patience(std::size_t challenger) const;
  [[nodiscard]] double patience_with_unverified() const;
  [[nodiscard]] bool holds(std::size_t challenger, std::uint32_t calls) const;
  [[nodiscard]] double typical() const { return arms_[incumbent_].typical; }

  GuardRules rules_;
  std::vector<ArmState> arms_;
  std::vector<Meeting> meetings_;
  std::vector<ArmEvidence> known_;
  std::size_t incumbent_ = 0;
  bool unverified_ = false;          // the incumbent is in use by evidence or prediction alone
  std::size_t replaced_ = 0;         // the arm that was in use before
  std::uint32_t watched_ = 0;        // calls of the incumbent that are still watched
  double watched_ratio_ = 1;         // its typical cost over the mean of the arm before
  bool watched_again_ = false;       // for a second outlier
  double excess_ = 0, longest_ = 0;  // of the watched ones over that mean, in calls: all, and the longest
  double closed_ = 0;                // seconds lost up to the last change
  double spent_ = 0;
  std::uint64_t calls_ = 0, trials_ = 0, unpriced_ = 0;
  std::uint64_t good_until_ = 0;  // the call up to which the incumbent is taken for a good choice

  Script script_ = Script::none;
  std::size_t challenger_ = 0;
  std::vector<std::pair<Turn, int>> turns_;  // what is left of the script, last first, with pairs
  std::vector<Timed> timed_, posted_;
  bool outstanding_ = false;

  std::uint64_t retest_at_, retest_gap_, sample_at_ = 0, sample_gap_;
  double reference_ = 0;    // the incumbent's typical cost when it was last compared; 0: never
  bool suspected_ = false;  // the last sample was off the reference
};

}  // namespace hocket
