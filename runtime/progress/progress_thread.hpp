#pragma once
/// A thread that goes on with what is active while the program's own thread waits inside the MPI library.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "runtime/progress/idle.hpp"

namespace hocket::runtime {

/// An all-gather's ranks forward what comes in, so there is nothing that they could hand to MPI in advance. Only for
/// processes whose threads may all call MPI at any time.
class ProgressThread {
 public:
  static ProgressThread& instance();
  /// True if this process may have a progress thread.
  [[nodiscard]] static bool allowed();
  /// Repeats `step` until it is over. Does not block. The same work every time.
  void take_over(std::function<Progress()> step);
  /// Waits for the thread. There may be another one later.
  void end();

 private:
  void work();

  std::mutex mutex_;  ///< never held while waiting for anything but work
  std::condition_variable wake_;
  std::function<Progress()> step_;  ///< step of the work taken over; empty: none
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace hocket::runtime
