#pragma once
/// Which way of carrying out a call is used, and what trying others may cost.
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "hocket/choose/evidence.hpp"
#include "hocket/choose/pair_test.hpp"

namespace hocket {

struct GuardRules {
  double margin = 0.02;               // a gain that is worth a change
  double error = 0.05;                // probability of a wrong change
  double budget_share = 0.01;         // of the time spent that trials may lose
  double budget_calls = 2;            // calls of the incumbent that trials may lose besides
  double drift = 0.20;                // change of the incumbent's cost after which others are tried again
  std::uint64_t retest_after = 1000;  // calls; twice as many from time to time
  bool may_change = true;             // false: no trials; evidence and calibrated predictions decide alone
  bool calibrated = false;            // predictions are of this place: seconds, not only an order
  double post_seconds = 0;            // what agreeing on costs takes from a run; counted as lost
  std::uint32_t lag = 1;              // calls between a post and the one before which its costs are due
};

/// What the next call does.
struct Turn {
  std::size_t arm;
  bool timed;  // its duration is wanted
  bool post;   // after it, the durations of the timed calls since the last post go to the other ranks
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
  double spread = 0;                                          // as in ArmEvidence
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
/// Trials are blocks A B B A of the incumbent A and a challenger B, each two pairs for PairTest, after one probe A B
/// that shows what a block would cost. A probe or block begins only when the budget holds what it is believed to lose.
/// So more than the budget is lost only where a call costs more than believed, and then nothing is tried until the
/// budget holds that, too.
class Guard {
 public:
  /// `predicted`: seconds of a call by each arm, NaN: unknown. `known`: evidence of earlier runs, by arm, or empty;
  /// `winner`: the arm that it ended with.
  Guard(std::vector<double> predicted, GuardRules rules, std::span<const ArmEvidence> known = {},
        std::optional<std::size_t> winner = {});

  /// Before next(): the costs of the oldest post must be told first.
  [[nodiscard]] bool due() const;

  /// Agreed costs, seconds, of the timed calls of the oldest post, in order. A cost that is no positive number counts
  /// for nothing. Throws InputError where nothing is posted, or where these are more or fewer.
  void tell(std::span<const double> costs);

  /// What the next call does. Throws InputError while costs are due.
  [[nodiscard]] Turn next();

  /// The arm that calls use which are no trials.
  [[nodiscard]] std::size_t incumbent() const { return incumbent_; }
  /// No trial is under way, and no arm that was not met yet waits for the budget.
  [[nodiscard]] bool settled() const;
  /// Seconds that trials have cost over the incumbent's typical call.
  [[nodiscard]] double lost() const { return lost_; }
  /// Seconds that trials may cost so far.
  [[nodiscard]] double budget() const;
  /// Seconds under this key: measured, or the incumbent's typical cost for calls that were not.
  [[nodiscard]] double spent() const { return spent_; }
  /// Calls.
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  /// Calls by challengers.
  [[nodiscard]] std::uint64_t trials() const { return trials_; }
  [[nodiscard]] std::span<const ArmState> arms() const { return arms_; }

 private:
  /// What is needed of an arm beside what is shown.
  struct Meeting {
    PairTest test;
    bool met = false;           // probed, against this incumbent
    std::vector<double> costs;  // the last ones, oldest first
  };
  struct Timed {
    std::size_t arm;
    bool trial;  // by a challenger
    int pair;    // of the block; -1: of none
  };
  enum class Script : std::uint8_t { none, sample, probe, blocks };

  void begin(Script script, std::size_t challenger, std::uint32_t blocks);
  void plan();
  void learn(std::size_t arm, double seconds);
  void judge();
  void commit(std::size_t arm);
  void reopen();
  void look_for_drift();
  void believe();
  [[nodiscard]] double typical(std::size_t arm) const;
  [[nodiscard]] bool holds(std::size_t challenger, std::uint32_t calls) const;

  GuardRules rules_;
  std::vector<ArmState> arms_;
  std::vector<Meeting> meetings_;
  std::vector<ArmEvidence> known_;
  std::size_t incumbent_ = 0;
  bool unverified_ = false;  // the incumbent was not met in this run by arm 0
  double lost_ = 0, spent_ = 0;
  std::uint64_t calls_ = 0, trials_ = 0, unpriced_ = 0;

  Script script_ = Script::none;
  std::size_t challenger_ = 0;
  std::vector<std::pair<Turn, int>> turns_;  // of the script, last first
  std::vector<Timed> timed_, posted_;
  bool outstanding_ = false;
  bool led_in_ = false;  // the last call was the incumbent's, timed and not posted
  std::uint32_t since_ = 0;

  std::uint64_t retest_at_, retest_gap_, sample_at_ = 0, sample_gap_;
  double reference_ = 0;  // the incumbent's typical cost when it was last compared
  bool suspected_ = false;
};

}  // namespace hocket
