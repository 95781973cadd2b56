#pragma once
/// The common part of all intercepted calls.
#include <mpi.h>

#include <new>

#include "runtime/mpi/mpi_call.hpp"

/// A function that the shim finds by its name.
#define HOCKET_CALL extern "C" __attribute__((visibility("default"))) int

namespace hocket::runtime {

inline bool plain_intracommunicator(MPI_Comm comm) {
  int inter = 0;
  return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter;
}

/// Runs a call that returns an MPI code; what it throws goes to the communicator's error handler.
template <class Call>
int guarded(MPI_Comm comm, Call call) {
  int code = MPI_SUCCESS;
  try {
    return call();
  } catch (const MpiFailure& failure) {
    code = failure.code;
  } catch (const std::bad_alloc&) {
    code = MPI_ERR_NO_MEM;
  }
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace hocket::runtime
