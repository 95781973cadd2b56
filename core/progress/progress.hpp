#pragma once
/// Progress of long work, and a request to cancel it. No I/O, no threads: the owner of the work watches it.
#include <atomic>
#include <cstdint>
#include <stdexcept>

namespace hocket {

/// Thrown out of the work once Progress::cancel() was called. Nothing is half done.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("cancelled") {}
};

/// Progress of the thread that is attached to it, for other threads to read. Thread-safe.
class Progress {
 public:
  /// The step that is under way, such as "deriving waits"; null while none counts.
  [[nodiscard]] const char* step() const { return step_; }
  /// Done part of the step, from 0 to 1.
  [[nodiscard]] double fraction() const { return fraction_; }
  /// The work ends with Cancelled at its next tick.
  void cancel() { cancelled_ = true; }
  [[nodiscard]] bool cancelled() const { return cancelled_; }

  /// The calling thread's work reports there from now on; null: nowhere. Returns where it did before.
  static Progress* attach(Progress* progress);
  /// Throws Cancelled if the calling thread's work is to end.
  static void check();

 private:
  friend class Steps;
  std::atomic<const char*> step_ = nullptr;
  std::atomic<double> fraction_ = 0;
  std::atomic<bool> cancelled_ = false;
};

/// One step of known length. Steps within a step do not report; they end when cancelled as well.
class Steps {
 public:
  /// `step` must be a literal. Throws Cancelled.
  Steps(const char* step, std::uint64_t total);
  ~Steps();
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  /// Counts so many more units as done. Cheap enough for each of millions of messages. Throws Cancelled.
  void tick(std::uint64_t units = 1) {
    done_ += units;
    if (done_ >= next_) report();
  }
  /// Counts so many units as done in all. Throws Cancelled.
  void reach(std::uint64_t done) {
    if (done > done_) tick(done - done_);
  }

 private:
  void report();

  Progress* progress_;
  bool outermost_ = false;
  std::uint64_t total_, done_ = 0, next_;
};

}  // namespace hocket
