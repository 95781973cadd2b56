#pragma once
/// Error handling shared by the functions of hocket.h.
#include <mpi.h>

#include <string>

#include "core/error.hpp"
#include "hocket.h"
#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {

/// Becomes the code that a function of hocket.h returns, and its text what hocket_error_string() says.
struct ApiError {
  int code;
  std::string text;
};

/// The meaning of a code of hocket.h; null if it is none.
[[nodiscard]] const char* meaning(int code);
/// The MPI library's text for an MPI error code.
[[nodiscard]] std::string what_mpi_says(int code);

/// Keeps the error for hocket_error_string(); returns its code.
int report(const ApiError& error);
/// The exception that is being handled; an InputError becomes an error of this code.
[[nodiscard]] ApiError current_error(int code_of_input_error);

/// Collective. Throws on every rank the problem of the first rank that has one; a code of
/// HOCKET_SUCCESS is none. Sleeps while it waits.
void agree(MPI_Comm comm, const ApiError& mine);

/// Collective. Does something on every rank; if it throws on any, it throws on all.
template <class Step>
void collective_try(MPI_Comm comm, int code_of_input_error, Step step) {
  ApiError problem{HOCKET_SUCCESS, {}};
  try {
    step();
  } catch (const MpiFailure&) {
    throw;  // the others cannot be told
  } catch (...) {
    problem = current_error(code_of_input_error);
  }
  agree(comm, problem);
}

/// The body of a function of hocket.h.
template <class Body>
int c_boundary(Body body) {
  try {
    body();
    return HOCKET_SUCCESS;
  } catch (...) {
    return report(current_error(HOCKET_ERR_ARGUMENT));
  }
}

/// Throws unless this argument is given.
inline void need(const void* argument, const char* name) {
  if (argument == nullptr) throw ApiError{HOCKET_ERR_ARGUMENT, std::string(name) + " is NULL"};
}

inline void need_intracommunicator(MPI_Comm comm) {
  if (!plain_intracommunicator(comm))
    throw ApiError{HOCKET_ERR_ARGUMENT, "the communicator is null or an intercommunicator; Hocket serves no others"};
}

}  // namespace hocket::runtime
