/// hocket.h: the program's own collective calls.
#include "runtime/c_api/api.hpp"
#include "runtime/mpi/entry.hpp"
#include "runtime/report/report.hpp"
#include "runtime/team/team.hpp"

using namespace hocket::runtime;

int hocket_leave_alone(MPI_Comm comm) {
  return c_boundary([&] {
    if (!plain_intracommunicator(comm))
      throw ApiError{HOCKET_ERR_ARGUMENT, "this is not an intracommunicator; Hocket leaves all others alone"};
    Team::leave_alone(comm);
  });
}

uint64_t hocket_scheduled_calls(void) { return scheduled_calls.load(std::memory_order_relaxed); }
