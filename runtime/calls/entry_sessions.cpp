/// Entry points for the start and end of MPI, called by the preloaded shim: they prepare state for the first call,
/// count sessions, and end a recording.
#include <mpi.h>

#include "runtime/agreement/changed_ways.hpp"
#include "runtime/mpi/entry.hpp"
#include "runtime/mpi/since_mpi4.hpp"
#include "runtime/mpi/times.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/record/record.hpp"
#include "runtime/team/team.hpp"

/// The first call would pay for this: short ones take less time. Ways are looked at while no port is in use.
HOCKET_CALL hocket_started() {
  using namespace hocket::runtime;
  return guarded(MPI_COMM_WORLD, [] {
    look_at_ways();
    if (settings().choose != Choose::off) (void)Team::known(MPI_COMM_WORLD)->choices();
    return MPI_SUCCESS;
  });
}

HOCKET_CALL hocket_finalize() {
  if (hocket::runtime::recording) hocket::runtime::end_recording();
  return PMPI_Finalize();
}

#ifdef MPI_SESSION_NULL
HOCKET_CALL hocket_session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  const int code = PMPI_Session_init(info, errhandler, session);
  if (code == MPI_SUCCESS) hocket::runtime::session_begins();
  return code;
}

HOCKET_CALL hocket_session_finalize(MPI_Session* session) {
  const int code = PMPI_Session_finalize(session);
  if (code == MPI_SUCCESS) hocket::runtime::session_is_over();
  return code;
}
#else
/// The shim asks for them only if the MPI library has sessions.
HOCKET_CALL hocket_session_init() { return MPI_ERR_OTHER; }
HOCKET_CALL hocket_session_finalize() { return MPI_ERR_OTHER; }
#endif
