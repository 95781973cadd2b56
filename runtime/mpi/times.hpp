#pragma once
/// The number of times that MPI was initialized.
#include <cstdint>

namespace hocket::runtime {

/// MPI may end and begin again: handles of the runtime's own (attribute keys) live as long as one such time.
/// Grows when the last session is finalized outside of MPI_Init and MPI_Finalize.
[[nodiscard]] std::uint32_t mpi_times();
void session_begins();
/// After MPI_Session_finalize.
void session_is_over();

}  // namespace hocket::runtime
