#pragma once
/// Waiting for the MPI library, while what the program has under way goes on.
#include <mpi.h>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/idle.hpp"

namespace hocket::runtime {

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

}  // namespace hocket::runtime
