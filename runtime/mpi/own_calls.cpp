/// The MPI library's own functions. Under the preloaded shim the names PMPI_... lead to the shim, which
/// would come back to the runtime. So every call that the shim catches is defined here, for the runtime
/// only (nothing is exported), and jumps to the function of the MPI library. All other files just write
/// PMPI_...
#include "runtime/shim/calls.h"
#include "runtime/shim/mpi_library.h"

extern "C" int PMPI_Get_library_version(char* version, int* length);

namespace {

enum Call {
#define NUMBER(mpi_name, runtime_name, arguments) call_##mpi_name,
  CALLS(NUMBER) call_count
#undef NUMBER
};

/// Null where this MPI has no such function: then nobody asks the runtime for it.
void* own[call_count];

__attribute__((constructor)) void find_own_functions() {
  const mpi_library library = find_mpi_library(reinterpret_cast<void*>(PMPI_Get_library_version));
#define FIND(mpi_name, runtime_name, arguments) own[call_##mpi_name] = own_function(&library, "PMPI_" #mpi_name);
  CALLS(FIND)
#undef FIND
}

}  // namespace

/// Named for the linker only, so that mpi.h may declare the same names with its own types.
#define DEFINE(mpi_name, runtime_name, n)                                                                      \
  extern "C" __attribute__((visibility("hidden"))) int hocket_own_##mpi_name(P##n) __asm__("PMPI_" #mpi_name); \
  int hocket_own_##mpi_name(P##n) { return PASS_TO(own[call_##mpi_name], n); }
CALLS(DEFINE)

/// Nothing of this library is destroyed when the process ends: exit handlers and destructors of the program may still
/// make calls (docs/decisions/0065-nothing-is-destroyed-at-exit.md). The compiler registers destructors of static
/// objects here, for this library only (nothing is exported).
extern "C" __attribute__((visibility("hidden"))) int hocket_never_destroyed(void (*)(void*), void*,
                                                                            void*) __asm__("__cxa_atexit");
int hocket_never_destroyed(void (*)(void*), void*, void*) { return 0; }
