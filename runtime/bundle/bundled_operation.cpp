#include "runtime/bundle/bundled_operation.hpp"

namespace hocket::runtime {

BundledOperation::BundledOperation(const Exchange& exchange) : exchange_(exchange), team_(*exchange.host_team()) {}

void BundledOperation::begin() {
  call_ = memory().next_call();
  put();
  memory().arrive(hosts().local, 2 * call_);
  stage_ = Stage::gathering;
}

bool BundledOperation::advance() {
  if (stage_ == Stage::gathering && memory().all_at(2 * call_)) {
    work();
    memory().arrive(hosts().local, 2 * call_ + 1);
    stage_ = Stage::working;
    ++moves_;
  }
  if (stage_ == Stage::working && (!hosts().leads() || memory().all_at(2 * call_ + 1))) {
    if (hosts().leads()) {
      traffic_ = traffic();
      run_.emplace(exchange_, traffic_);
      run_->begin();
    }
    stage_ = Stage::carrying;
    ++moves_;
  }
  if (stage_ == Stage::carrying) {
    if (hosts().leads() ? !run_->advance() : !memory().completed(call_)) return false;
    run_.reset();
    if (hosts().leads()) memory().complete(call_);
    take();
    stage_ = Stage::over;
  }
  return stage_ == Stage::over;
}

}  // namespace hocket::runtime
