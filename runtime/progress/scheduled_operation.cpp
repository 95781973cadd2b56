#include "runtime/progress/scheduled_operation.hpp"

namespace hocket::runtime {

void ScheduledOperation::begin() {
  traffic_ = pack();
  pass_.emplace(exchange_, traffic_);
  pass_->begin();
  (void)advance();
}

bool ScheduledOperation::advance() {
  if (pass_ && pass_->advance()) {
    pass_.reset();
    unpack();
  }
  return !pass_;
}

}  // namespace hocket::runtime
