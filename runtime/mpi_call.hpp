#pragma once
/// MPI error codes as exceptions inside the runtime; they become codes again at its border.
#include <mpi.h>

namespace hocket::runtime {

struct MpiFailure {
  int code;
};

inline void check(int code) {
  if (code != MPI_SUCCESS) throw MpiFailure{code};
}

}  // namespace hocket::runtime
