#include "runtime/choose/duel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace hocket::runtime {
namespace {

constexpr std::size_t native = 0, schedule = 1;
constexpr std::array<std::string_view, 2> names{"native", "schedule"};
/// Of the bound: what irregular exchanges take on wires (bench/results/lab-vector.md).
constexpr double usual_time = 1.15;

}  // namespace

/// By what earlier runs have kept, or by the library's first call.
void Duel::begin(MPI_Comm comm) {
  GuardRules rules;
  rules.can_be_cut = std::uint64_t{1} << schedule;
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  if (!known_.winner.empty()) {
    std::array<ArmEvidence, 2> known;
    for (const ArmEvidence& arm : known_.arms)
      for (std::size_t i = 0; i < known.size(); ++i)
        if (arm.name == names[i]) known[i] = arm;
    guard_.emplace(std::array{unknown, unknown}, rules, known, known_.winner == names[schedule] ? schedule : native);
    return;
  }
  const double first = costs_.agree(comm).front();
  const std::array predicted{std::isfinite(first) ? first : unknown, bound_ > 0 ? usual_time * bound_ : unknown};
  rules.calibrated = true;
  guard_.emplace(predicted, rules);
}

bool Duel::scheduled(MPI_Comm comm) {
  if (!guard_ && known_.winner.empty() && costs_.count() == 0) {
    timed_ = true;
    costs_.begin(comm);
    return false;
  }
  if (!guard_)
    begin(comm);
  else if (guard_->due())
    guard_->tell(costs_.agree(comm));
  const Turn turn = guard_->next();
  timed_ = turn.timed;
  if (timed_) costs_.begin(comm);
  deadline_ = costs_.after(turn.limit, timed_);
  return turn.arm != native;
}

std::optional<Evidence> Duel::learned() const {
  if (!guard_) return std::nullopt;
  Evidence evidence;
  evidence.settled = guard_->settled();
  evidence.winner = names[guard_->incumbent()];
  evidence.arms = guard_->learned(names);
  const auto measured = std::ranges::find(evidence.arms, evidence.winner, &ArmEvidence::name);
  if (measured == evidence.arms.end()) return std::nullopt;  // it ended too soon
  return evidence;
}

void Duel::over() {
  if (timed_) costs_.end();
}

}  // namespace hocket::runtime
