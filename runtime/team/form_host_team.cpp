#include "runtime/team/form_host_team.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/agreement/agreement.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/progress/agree.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {

std::unique_ptr<HostTeam> form_host_team(MPI_Comm own, const Numbering& numbering) {
  int rank = 0;
  check(PMPI_Comm_rank(own, &rank));
  auto team = std::make_unique<HostTeam>();
  std::string problem;
  const std::size_t bytes = settings().host_memory;
  HostMemory::Handle mine;
  try_local(problem, [&] {
    team->hosts = hosts_of(numbering, static_cast<std::size_t>(rank));
    team->leaders = leaders_of(numbering);
    team->by_leader.resize(team->hosts.count());
    std::iota(team->by_leader.begin(), team->by_leader.end(), std::size_t{0});
    std::ranges::sort(team->by_leader, {}, [&](std::size_t host) { return team->hosts.ranks[host].front(); });
    if (!team->hosts.leads()) return;
    team->memory = std::make_unique<HostMemory>(team->hosts.here().size(), bytes);
    mine = team->memory->handle();
  });
  std::vector<HostMemory::Handle> handles(numbering.comm_rank.size());
  gather_all(&mine, handles.data(), sizeof mine, own);
  try_local(problem, [&] {
    if (team->hosts.leads()) return;
    const HostMemory::Handle& leaders = handles[team->hosts.here().front()];
    if (leaders.descriptor < 0) return;  // the leader tells why
    team->memory = std::make_unique<HostMemory>(leaders, team->hosts.here().size(), bytes);
  });
  if (!all_ok(own, problem, "messages of a host's ranks are not aggregated")) return nullptr;
  if (team->hosts.leads()) team->memory->seal();
  return team;
}

}  // namespace hocket::runtime
