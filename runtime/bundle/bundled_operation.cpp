#include "runtime/bundle/bundled_operation.hpp"

#include <algorithm>

#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {

BundledOperation::BundledOperation(const Exchange& exchange) : exchange_(exchange), team_(*exchange.host_team()) {}

void BundledOperation::begin() {
  call_ = memory().next_call();
  put();
  memory().arrive();
  stage_ = works() || hosts().leads() ? Stage::gathering : Stage::carrying;
}

bool BundledOperation::advance() {
  if (stage_ != Stage::taken && waits_for_more()) (void)all_in();  // what the MPI library carries moves meanwhile
  if (stage_ == Stage::gathering && memory().all_here()) {
    if (works()) {
      work();
      memory().arrive();
    }
    stage_ = Stage::working;
    ++moves_;
  }
  if (stage_ == Stage::working && (!hosts().leads() || memory().all_here())) {
    if (hosts().leads()) begin_carrying();
    stage_ = Stage::carrying;
    ++moves_;
  }
  if (stage_ == Stage::carrying) {
    if (hosts().leads() ? !carried() : !memory().completed(call_)) return false;
    if (hosts().leads()) memory().complete(call_);
    take();
    stage_ = Stage::taken;
    ++moves_;
  }
  if (stage_ == Stage::taken && all_in()) stage_ = Stage::over;
  return stage_ == Stage::over;
}

void BundledOperation::begin_carrying() {
  if (planned().window == 0) {
    carry(team_.between_leaders, &request_);
    return;
  }
  traffic_ = traffic();
  run_.emplace(exchange_, traffic_);
  run_->begin();
}

bool BundledOperation::carried() {
  if (run_) {
    if (!run_->advance()) return false;
    run_.reset();
    return true;
  }
  int done = 0;
  check(PMPI_Test(&request_, &done, MPI_STATUS_IGNORE));
  return done != 0;
}

/// A rank that this one waits for may itself wait for a message from or to this one, by the program: MPI must move
/// them. Sleeps double, so that long calls are not woken often.
bool BundledOperation::wait() {
  using namespace std::chrono_literals;
  if (waits_for_more()) return false;
  const bool gathers = stage_ == Stage::gathering || stage_ == Stage::working;
  if (gathers || !hosts().leads()) {
    move_messages();
    if (gathers)
      memory().await_all(sleep_);
    else
      memory().await_completion(call_, sleep_);
    sleep_ = std::min<std::chrono::microseconds>(2 * sleep_, 10ms);
  } else if (!run_)
    check(PMPI_Wait(&request_, MPI_STATUS_IGNORE));
  else
    return false;
  return true;
}

/// Looks for a message that nobody sends: one that is there would end the look, in Open MPI before it moves any.
void BundledOperation::move_messages() const {
  constexpr int no_tag = 0;
  int found = 0;
  check(PMPI_Iprobe(static_cast<int>(exchange_.rank()), no_tag, exchange_.comm(), &found, MPI_STATUS_IGNORE));
}

}  // namespace hocket::runtime
