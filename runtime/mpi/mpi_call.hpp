#pragma once
/// MPI error codes as exceptions inside the runtime; they become codes again at its border.
#include <mpi.h>

#include <span>
#include <string>

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

/// Not from the stack, of which MPI_MAX_LIBRARY_VERSION_STRING is much.
[[nodiscard]] inline std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, 0);
  int length = 0;
  check(PMPI_Get_library_version(text.data(), &length));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace hocket::runtime
