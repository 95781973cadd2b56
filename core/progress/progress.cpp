#include "core/progress/progress.hpp"

#include <algorithm>

namespace hocket {

static thread_local Progress* attached = nullptr;

constexpr std::uint64_t reports = 4096;  // reports of a step: in the longest steps one every few milliseconds

Progress* Progress::attach(Progress* progress) {
  Progress* const before = attached;
  attached = progress;
  return before;
}

void Progress::check() {
  if (attached != nullptr && attached->cancelled_) throw Cancelled();
}

Steps::Steps(const char* step, std::uint64_t total)
    : progress_(attached), total_(std::max<std::uint64_t>(total, 1)), next_(progress_ == nullptr ? ~0ull : 0) {
  if (progress_ == nullptr) return;
  if (progress_->cancelled_) throw Cancelled();
  const char* none = nullptr;
  outermost_ = progress_->step_.compare_exchange_strong(none, step);
  report();
}

Steps::~Steps() {
  if (outermost_) progress_->step_ = nullptr;
}

void Steps::report() {
  next_ = done_ + total_ / reports + 1;
  if (progress_->cancelled_) throw Cancelled();
  if (outermost_) progress_->fraction_ = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
}

}  // namespace hocket
