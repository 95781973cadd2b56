#include "runtime/choose/duel.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace hocket::runtime {
namespace {

constexpr std::size_t native = 0;
/// Of the bound: what irregular exchanges take on wires (bench/results/lab-vector.md).
constexpr double usual_time = 1.15;

}  // namespace

bool Duel::scheduled(MPI_Comm comm) {
  if (!guard_ && costs_.count() == 0) {
    timed_ = true;
    costs_.begin(comm);
    return false;
  }
  if (!guard_) {
    const double first = costs_.agree(comm).front();
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    const std::array predicted{std::isfinite(first) ? first : unknown, bound_ > 0 ? usual_time * bound_ : unknown};
    GuardRules rules;
    rules.calibrated = true;
    guard_.emplace(predicted, rules);
  } else if (guard_->due()) {
    guard_->tell(costs_.agree(comm));
  }
  const Turn turn = guard_->next();
  timed_ = turn.timed;
  if (timed_) costs_.begin(comm);
  return turn.arm != native;
}

void Duel::over() {
  if (timed_) costs_.end();
}

}  // namespace hocket::runtime
