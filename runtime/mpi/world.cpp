#include "runtime/mpi/world.hpp"

#include <charconv>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/since_mpi4.hpp"

namespace hocket::runtime {
namespace {

/// The rank from the launcher's environment variables.
std::optional<int> rank_in_environment() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    const std::string_view text(value);
    int rank = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), rank).ec == std::errc{}) return rank;
  }
  return std::nullopt;
}

}  // namespace

bool in_world() {
  int initialized = 0, finalized = 0;
  check(PMPI_Initialized(&initialized));
  check(PMPI_Finalized(&finalized));
  return initialized && !finalized;
}

std::optional<int> launched_rank() {
  if (!in_world()) return rank_in_environment();
  MPI_Comm parent = MPI_COMM_NULL;
  check(PMPI_Comm_get_parent(&parent));
  if (parent != MPI_COMM_NULL) return std::nullopt;
  return rank_in(MPI_COMM_WORLD);
}

std::vector<int> world_ranks(MPI_Comm comm) {
  int size = 0;
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
#ifdef MPI_SESSION_NULL
  MPI_Session session = MPI_SESSION_NULL;
  if (!in_world()) {
    check(PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    check(PMPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  }
#endif
  if (world == MPI_GROUP_NULL) check(PMPI_Comm_group(MPI_COMM_WORLD, &world));
  check(PMPI_Comm_group(comm, &group));
  check(PMPI_Group_size(group, &size));
  std::vector<int> ranks(static_cast<std::size_t>(size)), of_world(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  check(PMPI_Group_translate_ranks(group, size, ranks.data(), world, of_world.data()));
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
#ifdef MPI_SESSION_NULL
  if (session != MPI_SESSION_NULL) PMPI_Session_finalize(&session);
#endif
  return of_world;
}

}  // namespace hocket::runtime
