/// Per-process state exists once, in the runtime: these functions, called by this library and by the sources of
/// copies.cpp, forward to it.
#include "runtime/beside/beside.hpp"
#include "runtime/c_api/api.hpp"
#include "runtime/mpi/times.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {

std::uint32_t mpi_times() { return hocket_beside_mpi_times(); }

bool any_active() { return hocket_beside_any_active(); }
bool move_active() { return hocket_beside_move_active(); }
void post_remaining() { hocket_beside_post_remaining(); }

int report(const ApiError& error) { return hocket_beside_keep_error(error.code, error.text.c_str()); }

}  // namespace hocket::runtime
