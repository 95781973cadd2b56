#include "runtime/choose/duel.hpp"

#include <array>
#include <limits>

namespace hocket::runtime {
namespace {

constexpr std::size_t native = 0, schedule = 1;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<double, 2> predicted{unknown, unknown};

}  // namespace

Duel::Duel() : guard_(predicted, {}, {}, schedule) {}

bool Duel::scheduled(MPI_Comm comm) {
  if (guard_.due()) guard_.tell(costs_.agree(comm));
  turn_ = guard_.next();
  if (turn_.timed) costs_.begin();
  return turn_.arm != native;
}

void Duel::over() {
  if (turn_.timed) costs_.end();
}

}  // namespace hocket::runtime
