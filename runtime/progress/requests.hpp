#pragma once
/// The requests that the runtime serves in place of the MPI library.
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/operation.hpp"
#include "runtime/progress/waiting.hpp"
#include "runtime/report/report.hpp"

namespace hocket::runtime {

/// A persistent request as the program sees it, or a nonblocking operation. To the MPI library it is a persistent
/// request for the same collective that nobody ever starts: a handle that belongs to nothing else, and that a binding
/// which does not come through the C functions can use. The library is not asked about it: MPICH
/// 5.0.2 waits forever for an inactive persistent collective.
struct ManagedRequest {
  enum class State : std::uint8_t { inactive, active, complete };

  [[nodiscard]] bool pending() const { return state == State::active; }
  [[nodiscard]] bool complete() const { return state == State::complete; }

  std::unique_ptr<Operation> operation;
  MPI_Comm comm;  ///< its error handler is called on failure
  std::atomic<State> state = State::inactive;
  bool freed = false;                          ///< no handle of the program stands for it: nobody collects it
  MPI_Request generalized = MPI_REQUEST_NULL;  ///< set for a nonblocking call: completed when the operation is over
  bool free_when_over = false;                 ///< free `generalized` when the operation is over
  int code = MPI_SUCCESS;                      ///< MPI code of the last completion
  Followed followed;
};

class Requests {
 public:
  static Requests& instance();

  /// Lets `request`, just made and inactive, stand for `operation`.
  void serve(MPI_Request request, std::unique_ptr<Operation> operation, MPI_Comm comm);
  /// Begins a nonblocking operation, and makes the request that stands for it. That is a generalized request, which
  /// MPI itself knows how to test, wait for and free, among others of any kind, once it is told that it is over. Of one
  /// that fails it is not told before that is collected: it would choose whose error handler hears of it.
  void begin(std::unique_ptr<Operation> operation, MPI_Comm comm, MPI_Request* request);
  /// Null if the request is the program's own, or of a nonblocking operation that has not failed.
  [[nodiscard]] std::shared_ptr<ManagedRequest> find(MPI_Request request) const;
  /// Throws MpiFailure if it has been started and not completed.
  void start(const std::shared_ptr<ManagedRequest>& served);
  /// A step of everything that is active, whoever started it; true if anything moved. Does not block.
  bool progress();
  /// Before this rank waits inside the MPI library: see Operation::post_remaining().
  void post_remaining();
  /// Makes a complete request inactive, or frees that of a nonblocking operation; returns how it ended.
  int collect(ManagedRequest& served, MPI_Request* request);
  /// True if nonblocking operations have failed and were not collected.
  [[nodiscard]] bool any_failed() const { return failed_count_ > 0; }
  /// True if other ranks still need this one to make progress although it has called post_remaining().
  [[nodiscard]] bool is_needed() const;
  [[nodiscard]] bool any_active() const { return active_count_ > 0; }
  /// The program frees the request of a nonblocking operation, which is an error unless it is over. False if it is not
  /// one under way; else it goes on to its end, and then frees the request: MPICH could not complete a freed one.
  [[nodiscard]] bool free_later(MPI_Request request);
  /// The program frees the request. What is active goes on to its end.
  void forget(MPI_Request request);
  /// At MPI_Finalize: ends what was freed while active, and drops everything.
  void close();

 private:
  Requests() = default;
  static void prepare_close();
  void finish(const std::shared_ptr<ManagedRequest>& served);
  /// `over` returns true of those that are.
  template <class Call>
  void for_each_active(Call over);
  [[nodiscard]] bool any_freed() const;

  mutable std::recursive_mutex mutex_;  ///< never held while waiting; recursive: see Inside
  std::map<MPI_Request, std::shared_ptr<ManagedRequest>> served_;
  std::vector<std::shared_ptr<ManagedRequest>> active_;  ///< in the order of their starts
  std::atomic<std::size_t> active_count_ = 0, failed_count_ = 0;
};

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline never = Deadline::max();

/// Waits for an operation or a pass that has begun; the program's active requests make progress too. At the deadline it
/// gives up its order.
template <class Work>
void finish(Work& work, Deadline deadline = never) {
  wait_for([&] {
    const Progress progress = step(work);
    if (progress == Progress::over) return progress;
    if constexpr (requires { work.give_up_order(); }) {
      if (deadline != never && std::chrono::steady_clock::now() > deadline) {
        deadline = never;
        work.give_up_order();
        return Progress::some;
      }
    }
    if (Requests::instance().progress()) return Progress::some;
    if constexpr (requires { work.wait(); })
      if (progress == Progress::none && !Requests::instance().any_active() && work.wait()) return Progress::some;
    return progress;
  });
}

/// A thread that goes on with what is active while the program's own thread waits inside the MPI library.
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

/// Persistent requests that are served, freed ones until they are over, and nonblocking operations under way. While
/// there is none the shim passes calls straight to the MPI library.
extern "C" std::atomic<int> hocket_live_requests;
