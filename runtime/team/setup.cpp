#include "runtime/team/setup.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/agreement/agreement.hpp"
#include "runtime/mpi/attached.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/world.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/progress/requests.hpp"
#include "runtime/progress/waiting.hpp"

namespace hocket::runtime {
namespace {

/// MPI has few communicators, of which each holds some.
constexpr std::size_t most_kept = 8;

/// Lives as long as MPI: what MPI_COMM_SELF has attached is deleted when it ends.
struct Kept {
  std::vector<std::unique_ptr<Setup>> setups;  ///< the oldest first
  ~Kept();
};

constinit std::mutex kept_mutex;
constinit Kept* all_kept = nullptr;

Kept::~Kept() {
  const std::lock_guard lock(kept_mutex);
  all_kept = nullptr;
}

}  // namespace

void keep(std::unique_ptr<Setup> setup) {
  std::unique_ptr<Setup> oldest;  // goes when others may keep again
  const std::lock_guard lock(kept_mutex);
  if (all_kept == nullptr) return;
  if (all_kept->setups.size() >= most_kept) {
    oldest = std::move(all_kept->setups.front());
    all_kept->setups.erase(all_kept->setups.begin());
  }
  all_kept->setups.push_back(std::move(setup));
}

std::unique_ptr<Setup> take_kept(const std::vector<int>& world_ranks) {
  const std::lock_guard lock(kept_mutex);
  if (all_kept == nullptr) all_kept = &Attached<Kept>::attach(MPI_COMM_SELF, std::make_unique<Kept>());
  auto& setups = all_kept->setups;
  const auto found = std::find_if(setups.rbegin(), setups.rend(),
                                  [&](const auto& setup) { return setup->world_ranks == world_ranks; });
  if (found == setups.rend()) return nullptr;
  std::unique_ptr<Setup> setup = std::move(*found);
  setups.erase(std::next(found).base());
  return setup;
}

std::unique_ptr<HostTeam> form_host_team(MPI_Comm own, const Numbering& numbering) {
  auto team = std::make_unique<HostTeam>();
  std::string problem;
  const std::size_t bytes = settings().host_memory;
  HostMemory::Handle mine;
  try_local(problem, [&] {
    team->hosts = hosts_of(numbering, static_cast<std::size_t>(rank_in(own)));
    team->leaders = leaders_of(numbering);
    team->by_leader = team->hosts.by_leader();
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
