/// Calls in which all ranks know all sizes, as the preloaded shim hands them over: blocking, nonblocking and persistent
/// ones, with counts of either size.

#include <type_traits>

#include "runtime/calls/serve.hpp"
#include "runtime/calls/two_level_calls.hpp"
#include "runtime/calls/vector_operation.hpp"
#include "runtime/mpi/since_mpi4.hpp"
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

#define EVERY_FORM(Name, name, Call, shape, Place) \
  HOCKET_EVERY_FORM(Name, name, shape, Place, (shape##_RECORDED(operation, Call)), (Call{shape##_ARGUMENTS}))
GLOBALLY_SIZED_CALLS(EVERY_FORM)
#undef EVERY_FORM  // the sources of a room are compiled as one
