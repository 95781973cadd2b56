#pragma once
/// Waiting without taking the processor from ranks that have work: on a machine with more ranks
/// than cores a rank that polls starves the one it waits for.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "mpi_call.hpp"

namespace hocket::runtime {

/// Polls for a moment, then sleeps for a share of the time waited so far, so that sleeping never
/// adds more than that share to a wait.
class IdleWait {
 public:
  explicit IdleWait(unsigned max_sleep_us) : longest_(max_sleep_us) {}

  void reset() { waiting_ = false; }

  void wait() {
    const auto now = std::chrono::steady_clock::now();
    if (!waiting_) {
      waiting_ = true;
      since_ = now;
    }
    const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(now - since_);
    const auto sleep = std::min(waited / 4, longest_);
    if (sleep > shortest) std::this_thread::sleep_for(sleep);
  }

 private:
  static constexpr std::chrono::microseconds shortest{5};
  std::chrono::microseconds longest_;
  std::chrono::steady_clock::time_point since_;
  bool waiting_ = false;
};

inline void wait_idle(std::vector<MPI_Request>& requests, unsigned max_sleep_us) {
  IdleWait idle(max_sleep_us);
  for (int done = 0; !done;) {
    check(PMPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
    if (!done) idle.wait();
  }
}

}  // namespace hocket::runtime
