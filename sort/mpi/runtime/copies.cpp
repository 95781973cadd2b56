/// Sources of the runtime that keep nothing which a process has one of (one_of.cpp): this library has a copy of them.
// NOLINTBEGIN(bugprone-suspicious-include)
#include "runtime/agreement/agreement.cpp"
#include "runtime/agreement/private_comm.cpp"
#include "runtime/c_api/api_error.cpp"
#include "runtime/environment/variables.cpp"
#include "runtime/mpi/never_destroyed.cpp"
#include "runtime/mpi/own_calls.cpp"
#include "runtime/mpi/world.cpp"
#include "runtime/plan/settings.cpp"
#include "runtime/progress/agree.cpp"
// NOLINTEND(bugprone-suspicious-include)
