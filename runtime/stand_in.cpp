#include "stand_in.hpp"

#include <mpi.h>

#include "idle.hpp"
#include "requests.hpp"

namespace hocket::runtime {

StandIn& StandIn::instance() {
  static StandIn& stand_in = *new StandIn;  // outlives every call of a program that does not finalize
  return stand_in;
}

bool StandIn::allowed() {
  int provided = MPI_THREAD_SINGLE;
  return PMPI_Query_thread(&provided) == MPI_SUCCESS && provided == MPI_THREAD_MULTIPLE;
}

void StandIn::take_over() {
  const std::lock_guard lock(mutex_);
  needed_ = true;
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  wake_.notify_one();
}

void StandIn::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  ending_ = false;
}

void StandIn::work() {
  Requests& requests = Requests::instance();
  for (std::unique_lock lock(mutex_);; lock.lock()) {
    wake_.wait(lock, [&] { return needed_ || ending_; });
    if (ending_) return;
    needed_ = false;
    lock.unlock();
    wait_for([&] {
      const bool moved = requests.progress();
      if (ending_ || !requests.is_needed()) return Progress::over;
      return moved ? Progress::some : Progress::none;
    });
  }
}

}  // namespace hocket::runtime
