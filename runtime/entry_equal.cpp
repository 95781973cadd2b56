/// All-to-alls and all-gathers, as the preloaded shim hands them over: blocking, nonblocking and persistent ones, with
/// counts of either size.
#include <mpi.h>

#include "all_to_all.hpp"
#include "entry.hpp"
#include "equal_functions.h"
#include "gather.hpp"
#include "serve.hpp"
#include "since_mpi4.hpp"

#define BLOCKING(Name, name, Call, shape, Count, Place)                                       \
  HOCKET_CALL hocket_##name(shape##_PARAMETERS(Count, Place)) {                               \
    using namespace hocket::runtime;                                                          \
    return blocking(Call{shape##_ARGUMENTS}, [&] { return PMPI_##Name(shape##_ARGUMENTS); }); \
  }
#define NONBLOCKING(Name, name, Call, shape, Count, Place)                                                         \
  HOCKET_CALL hocket_##name(shape##_PARAMETERS(Count, Place), MPI_Request* request) {                              \
    using namespace hocket::runtime;                                                                               \
    return nonblocking(Call{shape##_ARGUMENTS}, request, [&] { return PMPI_##Name(shape##_ARGUMENTS, request); }); \
  }
#define PERSISTENT(Name, name, Call, shape, Count, Place)                                            \
  HOCKET_CALL hocket_##name(shape##_PARAMETERS(Count, Place), MPI_Info info, MPI_Request* request) { \
    using namespace hocket::runtime;                                                                 \
    return persistent(Call{shape##_ARGUMENTS}, request,                                              \
                      [&] { return PMPI_##Name(shape##_ARGUMENTS, info, request); });                \
  }
#define EVERY_FORM(Name, name, Call, shape)                               \
  BLOCKING(Name, name, Call, shape, int, int)                             \
  BLOCKING(Name##_c, name##_c, Call, shape, MPI_Count, MPI_Aint)          \
  NONBLOCKING(I##name, i##name, Call, shape, int, int)                    \
  NONBLOCKING(I##name##_c, i##name##_c, Call, shape, MPI_Count, MPI_Aint) \
  PERSISTENT(Name##_init, name##_init, Call, shape, int, int)             \
  PERSISTENT(Name##_init_c, name##_init_c, Call, shape, MPI_Count, MPI_Aint)
EQUAL_CALLS(EVERY_FORM)
