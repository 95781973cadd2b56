#pragma once
/// What all ranks of a communicator must hear of, so that they decide alike.
#include <mpi.h>

#include <cstdint>
#include <new>
#include <span>
#include <string>

#include "core/error.hpp"
#include "runtime/progress/agree.hpp"

namespace hocket::runtime {

/// What rank `source` has to say. The first rank of the communicator says it, unless one of them has said or heard it
/// before: most communicators of a job share ranks, so it is said once. Returns it, on all ranks. Collective.
std::string warn(MPI_Comm comm, int source, const std::string& text);
/// What the ranks find wrong with their environments. `digests`: Settings::config_warnings_digest of every rank.
/// Collective.
void tell_config_warnings(MPI_Comm comm, std::span<const std::uint64_t> digests);

/// Does what a rank does on its own before all go on together; puts down in `problem` what goes wrong. Does nothing
/// where there is a problem already: ranks in trouble go on to the next collective call like all others.
template <class Step>
void try_local(std::string& problem, Step step) {
  if (!problem.empty()) return;
  try {
    step();
  } catch (const InputError& error) {
    problem = error.what();
  } catch (const std::bad_alloc&) {
    problem = "no memory to plan";
  }
}

/// False if any rank has a problem (empty: none); the first one's, and what follows from it, is then said, and all
/// ranks have it in `problem`. Collective.
[[nodiscard]] bool all_ok(MPI_Comm comm, std::string& problem, const std::string& consequence);

}  // namespace hocket::runtime
