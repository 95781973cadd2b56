#pragma once
/// Warnings and errors that all ranks of a communicator must share to take the same decisions.
#include <mpi.h>

#include <cstdint>
#include <new>
#include <span>
#include <string>

#include "core/error.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {

/// Broadcasts a warning from rank `source` and returns it on all ranks. Rank 0 prints it, unless some rank has printed
/// or received it before: communicators of a job share ranks, so each warning is printed once. Collective.
std::string warn(MPI_Comm comm, int source, const std::string& text);
/// Reports the configuration warnings of all ranks. `digests`: Settings::config_warnings_digest of every rank.
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
