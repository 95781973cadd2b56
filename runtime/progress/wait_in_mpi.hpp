#pragma once
/// The one way to wait inside the MPI library.
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {

/// What a blocking call of the MPI library returns. While this rank waits there, nobody moves its active requests, for
/// which other ranks may wait: first it posts what remains of them.
template <class Call, class... Arguments>
int wait_in_mpi(Call call, Arguments... arguments) {
  Requests::instance().post_remaining();
  return call(arguments...);
}

}  // namespace hocket::runtime
