#pragma once
/// Waiting without taking the processor from ranks that have work: on a machine with more ranks
/// than cores a rank that polls starves the one it waits for.
#include <mpi.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {

/// Lets this thread's sleeps end within a microsecond of their time, not the usual fifty.
class FineTimers {
 public:
  FineTimers() : before_(prctl(PR_GET_TIMERSLACK)) { prctl(PR_SET_TIMERSLACK, 1000); }
  ~FineTimers() {
    if (before_ > 0) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before_));
  }
  FineTimers(const FineTimers&) = delete;
  FineTimers& operator=(const FineTimers&) = delete;

 private:
  int before_;
};

/// Polls for a moment, then sleeps for a quarter of the time waited so far, so that sleeping never adds more than a
/// quarter to a wait. Sleeps at once in a lab, where ranks of all hosts share a few cores with the network.
class IdleWait {
 public:
  void reset() { since_.reset(); }

  void wait() {
    constexpr std::chrono::microseconds polling{20}, longest{200}, in_a_lab{400};
    static const bool is_lab = !settings().lab.empty();
    if (is_lab) return std::this_thread::sleep_for(in_a_lab);
    const auto now = Clock::now();
    if (!since_) since_ = now;
    const Clock::duration waited = now - *since_;
    if (waited > polling) std::this_thread::sleep_for(std::min<Clock::duration>(waited / 4, longest));
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> since_;
};

enum class Progress : std::uint8_t { none, some, over };

/// Repeats `step`, which returns its Progress, until it is over.
template <class Step>
void wait_for(Step step) {
  const FineTimers fine_timers;
  IdleWait idle;
  for (Progress progress = step(); progress != Progress::over; progress = step()) {
    if (progress == Progress::some)
      idle.reset();
    else
      idle.wait();
  }
}

/// Advances an operation (operation.hpp) or a pass by one step.
template <class Work>
[[nodiscard]] Progress step(Work& work) {
  const std::uint64_t before = work.moves();
  if (work.advance()) return Progress::over;
  return work.moves() == before ? Progress::none : Progress::some;
}

/// Waiting for the MPI library, while what the program has under way goes on.
/// True if any operation of the program is active (requests.hpp).
[[nodiscard]] bool any_active();
/// A step of everything that is active; true if anything moved. Does not block.
bool move_active();
/// Before this rank waits inside the MPI library: see Operation::post_remaining().
void post_remaining();

/// Repeats `test`, which returns an MPI code and sets `done` when something is done, until it does or
/// fails; the program's active requests make progress too.
template <class Test>
int until(const int& done, Test test) {
  int code = MPI_SUCCESS;
  wait_for([&] {
    const bool moved = move_active();
    code = test();
    if (done || code != MPI_SUCCESS) return Progress::over;
    return moved ? Progress::some : Progress::none;
  });
  return code;
}

/// Waits for a request of the runtime's own.
inline void wait_until_done(MPI_Request& request) {
  int done = 0;
  check(until(done, [&] { return PMPI_Test(&request, &done, MPI_STATUS_IGNORE); }));
}

/// Completes a collective call of the runtime's own. Waits inside the MPI library unless operations of the program need
/// progress meanwhile.
inline void finish_collective(MPI_Request& request) {
  if (any_active())
    wait_until_done(request);
  else
    check(PMPI_Wait(&request, MPI_STATUS_IGNORE));
}

/// One that is begun by its nonblocking form: MPICH's blocking ones keep processors from ranks that come late.
template <class Call, class... Arguments>
void run_collective(Call begin, Arguments... arguments) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(begin(arguments..., &request));
  finish_collective(request);
}

/// Makes a blocking call of the MPI library and returns its code; all such calls go through here. While this rank waits
/// there, its active requests make no progress although other ranks may wait for them: so it posts their remaining
/// messages first.
template <class Call, class... Arguments>
int wait_in_mpi(Call call, Arguments... arguments) {
  post_remaining();
  return call(arguments...);
}

/// MPI_Allreduce of a few values, without taking the processor from ranks that have work: MPICH's blocking reductions
/// and barriers, from the fifth on, wait in the memory of a host without giving processors up. Eight ranks on two cores
/// then take 27 ms for what their nonblocking forms do in 6 (docs/decisions/0053).
void reduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
/// `bytes` bytes of every rank, in their order, on all: a few. By a reduction, whose connections are open: Open MPI's
/// nonblocking all-gather sends from everybody to everybody, and the first one takes 40 to 150 ms among 8 hosts on TCP.
void gather_all(const void* own, void* all, int bytes, MPI_Comm comm);
/// The first rank where that is so; nothing if it is so nowhere.
[[nodiscard]] std::optional<int> first_where(bool here, MPI_Comm comm);
/// MPI_Barrier in the same way.
void wait_for_all(MPI_Comm comm);

}  // namespace hocket::runtime

/// For tests, which cannot stand between the runtime and the MPI library: how often this rank agreed with others on a
/// few values, and their bytes.
extern "C" {
extern std::atomic<std::uint64_t> hocket_agreements, hocket_agreed_bytes;
}
