/// Calls in which all ranks know all sizes, as the preloaded shim hands them over: blocking, nonblocking and persistent
/// ones, with counts of either size.
#include <mpi.h>

#include <type_traits>

#include "runtime/calls/all_to_all.hpp"
#include "runtime/calls/gather.hpp"
#include "runtime/calls/reduce.hpp"
#include "runtime/calls/serve.hpp"
#include "runtime/calls/two_level_calls.hpp"
#include "runtime/calls/vector_operation.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/since_mpi4.hpp"
#include "runtime/mpi/sized_calls.h"
#include "runtime/plan/settings.hpp"
#include "runtime/record/record.hpp"

/// Recording of calls as messages between ranks; parts of a vector count as sent directly from owner to reader.
#define RECORDED(operation, ...) only_recorded(operation, comm, Reach{Reach::everybody}, __VA_ARGS__)
#define EQUAL_EACH_RECORDED(operation, Call) RECORDED(operation, EQUAL_EACH_SIDES)
#define SAME_TO_ALL_RECORDED(operation, Call) RECORDED(operation, SAME_TO_ALL_SIDES)
#define SAME_TO_ALL_UNEQUAL_RECORDED(operation, Call) RECORDED(operation, SAME_TO_ALL_UNEQUAL_SIDES)
#define INTO_ROOT_RECORDED(operation, Call) \
  only_recorded(operation, comm, Reach{Reach::into_root, INTO_ROOT_ROOT}, INTO_ROOT_SIDES)
#define FROM_ROOT_EACH_RECORDED(operation, Call) \
  only_recorded(operation, comm, Reach{Reach::from_root, FROM_ROOT_EACH_ROOT}, FROM_ROOT_EACH_SIDES)
#define FROM_ROOT_RECORDED(operation, Call) \
  only_recorded(operation, comm, Parts::from_root, Numbers::all(count), type, root)
#define COMBINED_RECORDED(operation, Call)                                                               \
  only_recorded(operation, comm, std::is_same_v<Call, AllReduceCall> ? Parts::to_all : Parts::to_owners, \
                Numbers::all(count), type, 0)
#define COMBINED_UNEQUAL_RECORDED(operation, Call) \
  only_recorded(operation, comm, Parts::to_owners, Numbers(counts), type, 0)
#define COMBINED_AT_ROOT_RECORDED(operation, Call) \
  only_recorded(operation, comm, Parts::to_root, Numbers::all(count), type, root)

#define BLOCKING(Of, Name, name, Call, shape, Count, Place)             \
  HOCKET_CALL hocket_##name(shape##_PARAMETERS(Count, Place)) {         \
    using namespace hocket::runtime;                                    \
    const auto native = [&] { return PMPI_##Name(shape##_ARGUMENTS); }; \
    if (recording && shape##_RECORDED("MPI_" #Name, Call)) [[unlikely]] \
      return native();                                                  \
    const Called called("MPI_" #Name);                                  \
    return blocking(LibraryCall::Of, Call{shape##_ARGUMENTS}, native);  \
  }
#define NONBLOCKING(Of, Name, name, Call, shape, Count, Place)                        \
  HOCKET_CALL hocket_##name(shape##_PARAMETERS(Count, Place), MPI_Request* request) { \
    using namespace hocket::runtime;                                                  \
    const auto native = [&] { return PMPI_##Name(shape##_ARGUMENTS, request); };      \
    if (recording && shape##_RECORDED("MPI_" #Name, Call)) [[unlikely]]               \
      return native();                                                                \
    const Called called("MPI_" #Name);                                                \
    return nonblocking(LibraryCall::Of, Call{shape##_ARGUMENTS}, request, native);    \
  }
#define PERSISTENT(Of, Name, name, Call, shape, Count, Place)                                        \
  HOCKET_CALL hocket_##name(shape##_PARAMETERS(Count, Place), MPI_Info info, MPI_Request* request) { \
    using namespace hocket::runtime;                                                                 \
    const auto native = [&] { return PMPI_##Name(shape##_ARGUMENTS, info, request); };               \
    if (recording && shape##_RECORDED("MPI_" #Name, Call)) [[unlikely]]                              \
      return native();                                                                               \
    const Called called("MPI_" #Name);                                                               \
    return persistent(LibraryCall::Of, Call{shape##_ARGUMENTS}, request, native);                    \
  }
#define EVERY_FORM(Name, name, Call, shape)                                     \
  BLOCKING(Name, Name, name, Call, shape, int, int)                             \
  BLOCKING(Name, Name##_c, name##_c, Call, shape, MPI_Count, MPI_Aint)          \
  NONBLOCKING(Name, I##name, i##name, Call, shape, int, int)                    \
  NONBLOCKING(Name, I##name##_c, i##name##_c, Call, shape, MPI_Count, MPI_Aint) \
  PERSISTENT(Name, Name##_init, name##_init, Call, shape, int, int)             \
  PERSISTENT(Name, Name##_init_c, name##_init_c, Call, shape, MPI_Count, MPI_Aint)
GLOBALLY_SIZED_CALLS(EVERY_FORM)
// The sources of a room are compiled as one.
#undef BLOCKING
#undef NONBLOCKING
#undef PERSISTENT
#undef EVERY_FORM
