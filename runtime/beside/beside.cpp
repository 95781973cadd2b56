#include "runtime/beside/beside.hpp"

#include "runtime/c_api/api.hpp"
#include "runtime/mpi/attached.hpp"
#include "runtime/progress/waiting.hpp"
#include "runtime/team/team.hpp"

namespace runtime = hocket::runtime;

std::uint32_t hocket_beside_mpi_times() noexcept { return runtime::mpi_times(); }

bool hocket_beside_any_active() noexcept { return runtime::any_active(); }
bool hocket_beside_move_active() noexcept { return runtime::move_active(); }
void hocket_beside_post_remaining() noexcept { runtime::post_remaining(); }

int hocket_beside_could_collide(MPI_Comm comm, bool* could) noexcept {
  return runtime::c_boundary([&] { *could = runtime::Team::of(comm).could_collide(); });
}

int hocket_beside_keep_error(int code, const char* text) noexcept { return runtime::report({code, text}); }
