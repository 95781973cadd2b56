/// hocket.h: the program's own collective calls.
#include "api.hpp"
#include "entry.hpp"
#include "report.hpp"
#include "team.hpp"

using namespace hocket::runtime;

int hocket_leave_alone(MPI_Comm comm) {
  return answer([&] {
    if (!plain_intracommunicator(comm))
      throw ApiError{HOCKET_ERR_ARGUMENT, "this is no intracommunicator; Hocket leaves all others alone"};
    Team::leave_alone(comm);
  });
}

uint64_t hocket_scheduled_calls(void) { return scheduled_calls.load(std::memory_order_relaxed); }
