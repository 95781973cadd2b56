#include "runtime/progress/progress_thread.hpp"

#include <mpi.h>

#include <utility>

namespace hocket::runtime {

ProgressThread& ProgressThread::instance() {
  static ProgressThread instance;
  return instance;
}

bool ProgressThread::allowed() {
  int provided = MPI_THREAD_SINGLE;
  return PMPI_Query_thread(&provided) == MPI_SUCCESS && provided == MPI_THREAD_MULTIPLE;
}

void ProgressThread::take_over(std::function<Progress()> step) {
  const std::lock_guard lock(mutex_);
  step_ = std::move(step);
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  wake_.notify_one();
}

void ProgressThread::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  ending_ = false;
}

void ProgressThread::work() {
  for (std::unique_lock lock(mutex_);; lock.lock()) {
    wake_.wait(lock, [&] { return step_ || ending_; });
    if (ending_) return;
    const std::function<Progress()> step = std::exchange(step_, nullptr);
    lock.unlock();
    wait_for([&] { return ending_ ? Progress::over : step(); });
  }
}

}  // namespace hocket::runtime
