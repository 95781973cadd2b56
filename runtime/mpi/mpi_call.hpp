#pragma once
/// MPI error codes as exceptions inside the runtime; they become codes again at its border.
#include <mpi.h>

#include <span>

namespace hocket::runtime {

struct MpiFailure {
  int code;
};

inline void check(int code) {
  if (code != MPI_SUCCESS) throw MpiFailure{code};
}

[[nodiscard]] inline bool all_done(std::span<MPI_Request> requests) {
  int done = 0;
  check(PMPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
  return done != 0;
}

}  // namespace hocket::runtime
