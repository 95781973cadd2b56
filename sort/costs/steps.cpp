#include "sort/costs/steps.hpp"

#include <algorithm>
#include <cstring>

namespace hocket::sort {

void StepClock::step_over(const char* name) {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - since_).count();
  const auto known = std::ranges::find_if(steps_, [&](const auto& step) { return std::strcmp(step.name, name) == 0; });
  if (known != steps_.end())
    known->seconds += seconds;
  else
    steps_.push_back({name, seconds, 0});
  if (options_.progress != nullptr) options_.progress(name, ++done_, expected_, options_.context);
  since_ = Clock::now();
}

}  // namespace hocket::sort
