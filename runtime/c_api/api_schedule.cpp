/// hocket.h: from destination vectors to a table.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "hocket/limits.hpp"
#include "hocket/schedule/bounds.hpp"
#include "runtime/buffers/peer_bytes.hpp"
#include "runtime/c_api/api.hpp"
#include "runtime/c_api/site.hpp"
#include "runtime/c_api/table.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/progress/requests.hpp"
#include "runtime/team/agreement.hpp"
#include "runtime/team/concatenate.hpp"
#include "runtime/team/irregular.hpp"
#include "runtime/team/proposed_phases.hpp"

using namespace hocket::runtime;

namespace {

void check_pending_setup(const PendingSetup& pending_setup, const PrivateComm& comm) {
  hocket::ByteWriter out;
  out.text(pending_setup.scheduler);
  out.fixed(pending_setup.seed);
  const std::uint64_t digest = hocket::checksum(out.bytes()), mine[] = {digest, ~digest};
  std::uint64_t least[] = {0, 0};
  run_collective(PMPI_Iallreduce, mine, least, 2, MPI_UINT64_T, MPI_MIN, comm.get());
  if (least[0] != ~least[1]) throw ApiError{HOCKET_ERR_ARGUMENT, "ranks differ in scheduler or seed"};
}

/// So that no rank needs to know all messages. Where links are scarce other schedulers may be faster: they know them.
bool by_proposals(const PendingSetup& pending_setup, std::uint32_t ranks) {
  if (pending_setup.scheduler.empty()) return ranks > hocket::limits::most_ranks_gathered;
  return pending_setup.scheduler == "proposals";
}

/// Program, sources and figures of a table whose targets are there.
void propose_table(MPI_Comm comm, std::vector<Volume> sends, std::uint64_t kept, const Site& site, PhaseTable& table) {
  PeerBytes peer_bytes{std::move(sends), {}};
  peer_bytes.receives = find_sources(comm, peer_bytes.sends);
  table.window = PlanStore::instance().window(hocket::Pattern::irregular);
  ProposedPhases made = propose_phases(comm, peer_bytes, table.seed, table.window);
  collective_try(comm, HOCKET_ERR_SCHEDULE, [&] { check_tags({made.program, {}, made.phases, table.window}, comm); });
  std::vector<Volume> sources = std::move(peer_bytes.receives);
  if (kept > 0)
    sources.insert(std::ranges::lower_bound(sources, table.rank, {}, &Volume::peer), Volume{table.rank, kept});
  for (const Volume& source : sources)
    table.sources.add(static_cast<int>(source.peer), static_cast<std::int64_t>(source.bytes));
  table.scheduler = "proposals";
  table.phases = made.phases;
  table.lockstep_seconds = static_cast<double>(made.lockstep_bytes) / site.network.host_rate();
  table.bound_seconds = static_cast<double>(made.bound_bytes) / site.network.host_rate();
  table.program = std::move(made.program);
}

/// Who sends to `rank`, which keeps so many bytes itself.
Partners sources_of(const hocket::TrafficMatrix& matrix, hocket::Rank rank, std::uint64_t kept) {
  Partners sources;
  for (hocket::Rank src = 0; src < matrix.ranks(); ++src)
    if (const std::uint64_t bytes = src == rank ? kept : matrix.size(src, rank); bytes > 0)
      sources.add(static_cast<int>(src), static_cast<std::int64_t>(bytes));
  return sources;
}

/// The same where every rank knows all messages.
void schedule_table(MPI_Comm comm, const std::vector<Volume>& sends, std::uint64_t kept, const Site& site,
                    const PendingSetup& pending_setup, PhaseTable& table) {
  hocket::Network network = network_to_plan(comm, site);
  const hocket::TrafficMatrix matrix = concatenate(comm, sends);
  table.sources = sources_of(matrix, table.rank, kept);
  const hocket::Demand demand = hocket::irregular(to_network(matrix, site.numbering));
  table.bound_seconds = lower_bounds(network, demand).seconds;

  std::string problem;
  Scheduled made = Planner(site.numbering, std::move(network), pending_setup).schedule(comm, demand, problem);
  agree(comm, {problem.empty() ? HOCKET_SUCCESS : HOCKET_ERR_SCHEDULE, problem});
  table.scheduler = std::move(made.scheduler);
  table.lockstep_seconds = made.lockstep_seconds;
  table.phases = made.planned.phases;
  table.window = made.planned.window;
  table.program = std::move(made.planned.program);
}

PhaseTable make_table(const PrivateComm& comm, Partners targets, const PendingSetup& pending_setup) {
  check_pending_setup(pending_setup, comm);
  const Site site = site_of(comm.get());
  PhaseTable table;
  table.ranks = static_cast<std::uint32_t>(comm.size());
  table.rank = static_cast<hocket::Rank>(comm.rank());
  table.seed = pending_setup.seed;
  table.place = site.digest;
  const std::vector<std::uint64_t> bytes(targets.bytes.begin(), targets.bytes.end());
  std::uint64_t kept = 0;
  const auto sends = sum_by_peer(targets.ranks, bytes, table.rank, kept);
  table.targets = std::move(targets);
  if (by_proposals(pending_setup, table.ranks))
    propose_table(comm.get(), sends, kept, site, table);
  else
    schedule_table(comm.get(), sends, kept, site, pending_setup, table);
  collective_try(comm.get(), HOCKET_ERR_SCHEDULE, [&] { check_table(table); });

  const std::uint64_t part = part_digest(table);
  run_collective(PMPI_Iallreduce, &part, &table.whole, 1, MPI_UINT64_T, MPI_SUM, comm.get());
  return table;
}

/// `read(ranks)` makes the destination vector from the arguments.
template <class Read>
int schedule(MPI_Comm comm, Read read, const char* scheduler, std::uint64_t seed, hocket_table** table) {
  return c_boundary([&] {
    need(table, "table");
    *table = nullptr;
    need_intracommunicator(comm);
    PrivateComm own(comm);
    Partners targets;
    collective_try(own.get(), HOCKET_ERR_ARGUMENT, [&] {
      targets = read(own.size());
      check_partners(targets, static_cast<std::uint32_t>(own.size()));
    });
    PhaseTable made = make_table(own, std::move(targets), {scheduler == nullptr ? "" : scheduler, seed});
    *table = new hocket_table(std::move(own), std::move(made));
  });
}

}  // namespace

int hocket_schedule(MPI_Comm comm, int sends, const int targets[], const int64_t bytes[], const char* scheduler,
                    uint64_t seed, hocket_table** table) {
  const auto read = [&](int) {
    if (sends < 0) throw hocket::InputError(std::to_string(sends) + " messages to send");
    if (sends > 0) need(targets, "targets");
    if (sends > 0) need(bytes, "bytes");
    return Partners{{targets, targets + sends}, {bytes, bytes + sends}};
  };
  return schedule(comm, read, scheduler, seed, table);
}

int hocket_schedule_counts(MPI_Comm comm, const int64_t bytes[], const char* scheduler, uint64_t seed,
                           hocket_table** table) {
  const auto read = [&](int ranks) {
    need(bytes, "bytes");
    Partners targets;
    for (int rank = 0; rank < ranks; ++rank)
      if (bytes[rank] != 0) targets.add(rank, bytes[rank]);
    return targets;
  };
  return schedule(comm, read, scheduler, seed, table);
}
