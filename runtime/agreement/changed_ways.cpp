#include "runtime/agreement/changed_ways.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/network/rerouted.hpp"
#include "runtime/agreement/agreement.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/mpi/world.hpp"
#include "runtime/paths/first_of_host.h"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {
namespace {

SeenWays look() {
  const Settings& s = settings();
  if (s.paths_table.empty() || s.paths == "off" || !is_first_of_host()) return {};
  SeenWays seen = look_at_ways(s.paths_table);
  if (s.log > 0 && seen.asked > 0 && launched_rank() == 0)
    say("paths found " + seen.found + ": of " + std::to_string(seen.asked) + " connections of this host " +
        std::to_string(seen.changed.size()) + " take another way now, of " +
        std::to_string(seen.asked - seen.answered) + " no router told");
  return seen;
}

/// The changes that the ranks have seen, rank after rank.
std::vector<ChangedWay> gathered(MPI_Comm comm) {
  struct Told {
    std::uint32_t count = 0;
    std::array<ChangedWay, SeenWays::most_asked> ways{};
  };
  Told mine;
  const std::vector<ChangedWay>& changed = seen_ways().changed;
  mine.count = static_cast<std::uint32_t>(changed.size());
  std::ranges::copy(changed, mine.ways.begin());
  int size = 0;
  check(PMPI_Comm_size(comm, &size));
  std::vector<Told> told(static_cast<std::size_t>(size));
  gather_all(&mine, told.data(), sizeof mine, comm);
  std::vector<ChangedWay> all;
  for (const Told& one : told) all.insert(all.end(), one.ways.begin(), one.ways.begin() + one.count);
  return all;
}

}  // namespace

const SeenWays& seen_ways() {
  static const SeenWays seen = look();
  return seen;
}

std::optional<Network> network_as_seen(MPI_Comm comm, const Network& network) {
  const std::vector<ChangedWay> changed = gathered(comm);
  std::optional<Network> seen;
  std::string problem;
  try_local(problem, [&] { seen = rerouted(network, routes_of(settings().paths_table, changed)); });
  const std::string consequence = "plans keep to the ways that were found";
  if (!all_ok(comm, problem, consequence)) return std::nullopt;
  const ChangedWay& first = changed.front();
  warn(comm, 0,
       std::to_string(changed.size()) + " connections take other ways than were found (" + network.name(first.from) +
           " to " + network.name(first.to) + ": by " + network.name(first.by) +
           "); plans are made anew on the ways they take. 'hocket network discover --paths' finds better ones");
  return seen;
}

}  // namespace hocket::runtime
