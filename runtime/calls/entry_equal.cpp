/// All-to-alls and all-gathers, as the preloaded shim hands them over: blocking, nonblocking and persistent ones, with
/// counts of either size.
#include <mpi.h>

#include "runtime/calls/all_to_all.hpp"
#include "runtime/calls/gather.hpp"
#include "runtime/calls/serve.hpp"
#include "runtime/mpi/entry.hpp"
#include "runtime/mpi/globally_sized.h"
#include "runtime/mpi/since_mpi4.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/record/record.hpp"

#define BLOCKING(Name, name, Call, shape, Count, Place)                                               \
  HOCKET_CALL hocket_##name(shape##_PARAMETERS(Count, Place)) {                                       \
    using namespace hocket::runtime;                                                                  \
    const auto native = [&] { return PMPI_##Name(shape##_ARGUMENTS); };                               \
    if (recording && only_recorded("MPI_" #Name, comm, Reach::everybody, shape##_SIDES)) [[unlikely]] \
      return native();                                                                                \
    return blocking(Call{shape##_ARGUMENTS}, native);                                                 \
  }
#define NONBLOCKING(Name, name, Call, shape, Count, Place)                                            \
  HOCKET_CALL hocket_##name(shape##_PARAMETERS(Count, Place), MPI_Request* request) {                 \
    using namespace hocket::runtime;                                                                  \
    const auto native = [&] { return PMPI_##Name(shape##_ARGUMENTS, request); };                      \
    if (recording && only_recorded("MPI_" #Name, comm, Reach::everybody, shape##_SIDES)) [[unlikely]] \
      return native();                                                                                \
    return nonblocking(Call{shape##_ARGUMENTS}, request, native);                                     \
  }
#define PERSISTENT(Name, name, Call, shape, Count, Place)                                             \
  HOCKET_CALL hocket_##name(shape##_PARAMETERS(Count, Place), MPI_Info info, MPI_Request* request) {  \
    using namespace hocket::runtime;                                                                  \
    const auto native = [&] { return PMPI_##Name(shape##_ARGUMENTS, info, request); };                \
    if (recording && only_recorded("MPI_" #Name, comm, Reach::everybody, shape##_SIDES)) [[unlikely]] \
      return native();                                                                                \
    return persistent(Call{shape##_ARGUMENTS}, request, native);                                      \
  }
#define EVERY_FORM(Name, name, Call, shape)                               \
  BLOCKING(Name, name, Call, shape, int, int)                             \
  BLOCKING(Name##_c, name##_c, Call, shape, MPI_Count, MPI_Aint)          \
  NONBLOCKING(I##name, i##name, Call, shape, int, int)                    \
  NONBLOCKING(I##name##_c, i##name##_c, Call, shape, MPI_Count, MPI_Aint) \
  PERSISTENT(Name##_init, name##_init, Call, shape, int, int)             \
  PERSISTENT(Name##_init_c, name##_init_c, Call, shape, MPI_Count, MPI_Aint)
GLOBALLY_SIZED_CALLS(EVERY_FORM)
