#pragma once
/// Waiting without taking the processor from ranks that have work: on a machine with more ranks
/// than cores a rank that polls starves the one it waits for.
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "runtime/plan/settings.hpp"

namespace hocket::runtime {

/// Lets this thread's sleeps end within a microsecond of their time, not the usual fifty.
class FineTimers {
 public:
  FineTimers() : before_(prctl(PR_GET_TIMERSLACK)) { prctl(PR_SET_TIMERSLACK, 1000); }
  ~FineTimers() {
    if (before_ > 0) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before_));
  }
  FineTimers(const FineTimers&) = delete;
  FineTimers& operator=(const FineTimers&) = delete;

 private:
  int before_;
};

/// Polls for `spin_us`, then sleeps for a quarter of the time waited so far, at most `sleep_us`, so
/// that sleeping never adds more than a quarter to a wait. Without a time to spin (ranks outnumber
/// cores) it sleeps `sleep_us` at once.
class IdleWait {
 public:
  IdleWait(unsigned spin_us, unsigned sleep_us) : spin_(spin_us), longest_(sleep_us) {}

  void reset() { waiting_ = false; }

  void wait() {
    if (spin_.count() == 0) {
      std::this_thread::sleep_for(longest_);
      return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (!waiting_) {
      waiting_ = true;
      since_ = now;
    }
    const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(now - since_);
    if (waited > spin_) std::this_thread::sleep_for(std::min(waited / 4, longest_));
  }

 private:
  std::chrono::microseconds spin_, longest_;
  std::chrono::steady_clock::time_point since_;
  bool waiting_ = false;
};

enum class Progress : std::uint8_t { none, some, over };

/// Repeats `step`, which returns its Progress, until it is over.
template <class Step>
void wait_for(Step step) {
  const FineTimers fine_timers;
  IdleWait idle(settings().spin_us, settings().sleep_us);
  for (Progress progress = step(); progress != Progress::over; progress = step()) {
    if (progress == Progress::some)
      idle.reset();
    else
      idle.wait();
  }
}

/// Advances an operation (operation.hpp) or a pass by one step.
template <class Work>
[[nodiscard]] Progress step(Work& work) {
  const std::uint64_t before = work.moves();
  if (work.advance()) return Progress::over;
  return work.moves() == before ? Progress::none : Progress::some;
}

}  // namespace hocket::runtime
