#pragma once
/// The C interface to the runtime's per-process state, for a library loaded beside it (sort/mpi), which has its own
/// copy of everything else. Each links its own C++ library, so no exception may cross it.
#include <mpi.h>

#include <cstdint>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/sized_calls.h"

#define HOCKET_BESIDE extern "C" __attribute__((visibility("default")))

/// runtime/mpi/attached.hpp
HOCKET_BESIDE std::uint32_t hocket_beside_mpi_times() noexcept;

/// runtime/progress/waiting.hpp
HOCKET_BESIDE bool hocket_beside_any_active() noexcept;
HOCKET_BESIDE bool hocket_beside_move_active() noexcept;
HOCKET_BESIDE void hocket_beside_post_remaining() noexcept;

/// Team::could_collide() of the communicator. Returns as the functions of hocket.h do.
HOCKET_BESIDE int hocket_beside_could_collide(MPI_Comm comm, bool* could) noexcept;
/// runtime/c_api/api.hpp: report()
HOCKET_BESIDE int hocket_beside_keep_error(int code, const char* text) noexcept;
/// MPI_Alltoallv as the runtime serves it.
HOCKET_CALL hocket_alltoallv(ONE_TYPE_PARAMETERS(int, int));
