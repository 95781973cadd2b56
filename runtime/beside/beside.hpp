#pragma once
/// What a library that is loaded beside the runtime (sort/mpi) uses of it: what a process has one of. Of all else it
/// has a copy. Only C passes between them, as each has a C++ library of its own: nothing is thrown.
#include <mpi.h>

#include <cstdint>

#include "runtime/calls/entry_vector.hpp"

#define HOCKET_BESIDE extern "C" __attribute__((visibility("default")))

/// runtime/mpi/times.hpp
HOCKET_BESIDE std::uint32_t hocket_beside_mpi_times() noexcept;

/// runtime/progress/waiting.hpp
HOCKET_BESIDE bool hocket_beside_any_active() noexcept;
HOCKET_BESIDE bool hocket_beside_move_active() noexcept;
HOCKET_BESIDE void hocket_beside_post_remaining() noexcept;

/// Team::could_collide() of the communicator. Returns as the functions of hocket.h do.
HOCKET_BESIDE int hocket_beside_could_collide(MPI_Comm comm, bool* could) noexcept;
/// runtime/c_api/api.hpp: report()
HOCKET_BESIDE int hocket_beside_keep_error(int code, const char* text) noexcept;
