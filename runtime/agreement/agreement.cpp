#include "runtime/agreement/agreement.hpp"

#include <set>
#include <vector>

#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {

std::string warn(MPI_Comm comm, int source, const std::string& text) {
  char line[1024] = "";
  text.copy(line, sizeof line - 1);
  run_collective(PMPI_Ibcast, line, sizeof line, MPI_CHAR, source, comm);
  const int known = heard(line) ? 1 : 0;
  int known_to_any = 0;
  run_collective(PMPI_Iallreduce, &known, &known_to_any, 1, MPI_INT, MPI_MAX, comm);
  if (known_to_any) return line;
  if (rank_in(comm) == 0) say(line);
  wait_for_all(comm);  // The condition behind the warning may end the job.
  return line;
}

void tell_config_warnings(MPI_Comm comm, std::span<const std::uint64_t> digests) {
  const std::vector<std::string>& own = settings().config_warnings;
  const int rank = rank_in(comm);
  // Ranks usually have the same environment, so one rank per distinct digest reports its warnings.
  std::set<std::uint64_t> told{0};
  for (int source = 0; source < static_cast<int>(digests.size()); ++source) {
    if (!told.insert(digests[static_cast<std::size_t>(source)]).second) continue;
    int lines = static_cast<int>(own.size());
    run_collective(PMPI_Ibcast, &lines, 1, MPI_INT, source, comm);
    for (int i = 0; i < lines; ++i) warn(comm, source, rank == source ? own[static_cast<std::size_t>(i)] : "");
  }
}

bool all_ok(MPI_Comm comm, std::string& problem, const std::string& consequence) {
  const std::optional<int> first = first_where(!problem.empty(), comm);
  if (!first) return true;
  problem = warn(comm, *first, problem + "; " + consequence);
  return false;
}

}  // namespace hocket::runtime
