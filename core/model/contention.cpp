#include "core/model/contention.hpp"

#include "core/error.hpp"

namespace hocket {

double shared_rate(const SharedRate& part, double flows) {
  if (!(flows > 1)) return part[0];
  std::size_t i = 0;
  double least = 1;
  for (; i + 1 < part.size() && flows >= 2 * least; ++i) least *= 2;
  if (i + 1 == part.size()) return part.back();
  return part[i] + (part[i + 1] - part[i]) * (flows / least - 1);
}

void check_contention(const Contention& contention) {
  for (const SharedRate* part : {&contention.host, &contention.switch_link})
    for (const double value : *part)
      if (!(value > 0 && value <= 1)) throw InputError("what flows leave of a wire must be above 0 and at most 1");
}

}  // namespace hocket
