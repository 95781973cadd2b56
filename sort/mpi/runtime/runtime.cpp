/// This library's part of the runtime: a copy of the sources that keep nothing which a process has one of, and
/// functions that forward to what it has one of.
#include "runtime/beside/beside.hpp"
#include "runtime/mpi/attached.hpp"

// NOLINTBEGIN(bugprone-suspicious-include)
#include "runtime/agreement/agreement.cpp"
#include "runtime/c_api/api_error.cpp"
#include "runtime/environment/variables.cpp"
#include "runtime/mpi/own_calls.cpp"
#include "runtime/mpi/world.cpp"
#include "runtime/plan/settings.cpp"
#include "runtime/progress/waiting.cpp"
// NOLINTEND(bugprone-suspicious-include)

namespace hocket::runtime {

std::uint32_t mpi_times() { return hocket_beside_mpi_times(); }

bool any_active() { return hocket_beside_any_active(); }
bool move_active() { return hocket_beside_move_active(); }
void post_remaining() { hocket_beside_post_remaining(); }

int report(const ApiError& error) { return hocket_beside_keep_error(error.code, error.text.c_str()); }

}  // namespace hocket::runtime
