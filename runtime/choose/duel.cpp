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

bool Duel::scheduled() {
  if (guard_.due()) guard_.tell(costs_.collect());
  turn_ = guard_.next();
  if (turn_.timed) since_ = std::chrono::steady_clock::now();
  return turn_.arm != native;
}

void Duel::over(MPI_Comm comm) {
  if (!turn_.timed) return;
  costs_.note(std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count());
  if (turn_.post) costs_.post(comm);
}

}  // namespace hocket::runtime
