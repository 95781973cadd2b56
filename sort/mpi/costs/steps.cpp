#include "sort/mpi/costs/steps.hpp"

#include <algorithm>
#include <cstring>

namespace hocket::sort {

void StepClock::add(const char* name, double seconds) {
  const auto known = std::ranges::find_if(steps_, [&](const auto& step) { return std::strcmp(step.name, name) == 0; });
  if (known != steps_.end())
    known->seconds += seconds;
  else
    steps_.push_back({name, seconds, 0});
}

void StepClock::step_over(const char* name) {
  double seconds = std::chrono::duration<double>(Clock::now() - since_).count();
  if (const auto fresh = place_.take_fresh()) {
    add(first_touch_step, fresh->seconds);
    seconds -= fresh->seconds;
    first_touched_ += fresh->bytes;
  }
  add(name, seconds);
  if (options_.progress != nullptr) options_.progress(name, ++done_, expected_, options_.context);
  since_ = Clock::now();
}

}  // namespace hocket::sort
