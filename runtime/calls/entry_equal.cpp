/// Calls in which all ranks know all sizes, as the preloaded shim hands them over: blocking, nonblocking and persistent
/// ones, with counts of either size.

#include "runtime/calls/serve.hpp"
#include "runtime/calls/two_level_calls.hpp"
#include "runtime/calls/vector_operation.hpp"
#include "runtime/mpi/since_mpi4.hpp"
#include "runtime/plan/settings.hpp"

#define EVERY_FORM(Name, name, Call, shape, Place) \
  HOCKET_EVERY_FORM(Name, name, shape, Place, (Call{shape##_ARGUMENTS}))
GLOBALLY_SIZED_CALLS(EVERY_FORM)
#undef EVERY_FORM  // the sources of a room are compiled as one
